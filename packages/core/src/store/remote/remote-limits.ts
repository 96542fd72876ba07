/** The limits of the copies that this process keeps; sizes in bytes, times in ms. */
export interface CopyLimits {
  /** 0: no copies. */
  readonly maxEntries: number
  readonly maxBytes: number
  readonly maxAge: number
  /** True when the values of the copies are made read-only. */
  readonly freeze: boolean
}

/** The limits of a process that uses a shared store; times in ms. */
export interface RemoteLimits {
  readonly storeTimeout: number
  /** The longest wait of a step for its turn, while the store answers others. */
  readonly patience: number
  readonly tagMaxAge: number
  /** Undefined: no near cache. */
  readonly near: CopyLimits | undefined
  /** Of the copies for an outage. */
  readonly outage: CopyLimits
}
