/** The right to refresh one key, as the process that holds it knows it. */
export interface Lease {
  readonly key: string
  /** Proves the holder: only who knows it may renew, commit or release. */
  readonly token: string
  /** How many loads of the key have failed in a row before this one. */
  readonly attempts: number
  /** When the acquire was sent, on the holder's monotonic clock: the lease cannot end later than `duration` after it was executed. */
  readonly sentAt: number
}
