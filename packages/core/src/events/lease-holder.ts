/** The process that holds a lease. */
export interface LeaseHolder {
  /** The lease, as the events `lead` and `commit` name it. */
  readonly lease: string
  readonly pid: number
  readonly host: string
}

/**
 * A lease that is held; times in ms. `awaited`: a caller waits for its end. `holder`: where the store
 * knows it.
 */
export interface InspectedLease {
  readonly heldFor: number
  readonly remaining: number
  readonly awaited: boolean
  readonly holder?: LeaseHolder | undefined
}

/**
 * A lease in events: enough of its token to join the events of several processes, and too little to write
 * with it.
 */
export function leaseId(token: string): string {
  return token.slice(-8)
}
