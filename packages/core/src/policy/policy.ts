import type { Entry } from '../entry.ts'

/** The use of an entry at one moment: `fresh`: served. `stale`: served while a refresh runs in the background. `if-error`: served only if a load fails. `gone`: not served. */
export type Verdict = 'fresh' | 'stale' | 'if-error' | 'gone'

/** The entries that a call accepts, within their own windows. */
export interface ServeLimits {
  /** The greatest age that the call accepts, ms. */
  readonly maxAge: number
  readonly allowStaleWhileRevalidate: boolean
  readonly allowStaleIfError: boolean
}

/** Judges an entry; the engine acts on the verdict. */
export interface FreshnessPolicy {
  judge(entry: Entry, now: number, limits: ServeLimits): Verdict
}

export interface CooldownPolicy {
  /** The time after the `attempts`-th failure in a row in which no process loads the key, ms. */
  after(attempts: number, limits: CooldownLimits): number
}

export interface CooldownLimits {
  readonly min: number
  readonly max: number
}

/** `beta`: at a random moment, the earlier the longer the load takes. `before`: this time before freshness ends, ms. */
export type EarlyRefresh = { readonly beta: number } | { readonly before: number }

export interface EarlyRefreshPolicy {
  /** Tells whether a fresh entry should be refreshed in the background now; the lease decides which process does it. False once it was attempted. */
  due(key: string, entry: Entry, now: number, early: EarlyRefresh): boolean
  /** Notes that this process has attempted the early refresh of an entry. */
  noteAttempt(key: string, entry: Entry): void
  /** The attempt could not begin, so there will be another one. */
  withdrawAttempt(key: string, entry: Entry): void
}
