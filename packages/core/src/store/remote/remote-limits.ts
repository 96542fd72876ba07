/** How many copies are kept in this process, and for how long: bytes and ms. */
export interface CopyLimits {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly maxAge: number
  /** Whether what is kept is made read-only. */
  readonly freeze: boolean
}

/** How a process goes by a store that others share; times in ms. */
export interface RemoteLimits {
  readonly storeTimeout: number
  readonly tagMaxAge: number
  readonly near: CopyLimits | undefined
  readonly outage: CopyLimits | undefined
}
