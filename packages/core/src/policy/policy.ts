import type { Entry } from '../entry.ts'

/**
 * The use of an entry at one moment: `fresh`: served. `stale`: served while a refresh runs in the background.
 * `if-error`: served only if a load fails. `gone`: not served.
 */
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

/**
 * `beta`: at a random moment, the earlier the longer the load takes. `before`: this time before freshness
 * ends, ms.
 */
export type EarlyRefresh = { readonly beta: number } | { readonly before: number }

export interface EarlyRefreshPolicy {
  /**
   * Tells whether a fresh entry should be refreshed in the background now; the lease decides which process
   * does it. False once it was attempted.
   */
  due(key: string, entry: Entry, now: number, early: EarlyRefresh): boolean
  /** Notes that this process has attempted the early refresh of an entry. */
  noteAttempt(key: string, entry: Entry): void
  /** The attempt could not begin, so there will be another one. */
  withdrawAttempt(key: string, entry: Entry): void
}

/**
 * A limit on the loads at once from one source, and what is known of it. Numbers only: processes pass it on
 * as text.
 */
export interface LoadLimit {
  /** Loads at once, at least 1; the whole part counts. */
  readonly limit: number
  readonly growth: number
  /** Full windows in a row. */
  readonly fullFor: number
  /** Median time of a load while the source has no queue, ms. */
  readonly base?: number | undefined
  /** The last limit at which loads took about `base`. */
  readonly flat?: number | undefined
  /** Full windows in a row, while more loads are wanted, after which the limit is tested. */
  readonly testAfter?: number | undefined
  /** Median time before the limit was halved as a test, ms. */
  readonly tested?: number | undefined
}

/**
 * What all processes have seen under one limit: of one load in every `limit / 64`, from its start; loads that
 * failed are left out.
 */
export interface LoadWindow {
  /** Times of the sampled loads that ended, ms. */
  readonly times: readonly number[]
  /** Ages of the sampled loads that still run, ms: lower bounds of their times. */
  readonly ages: readonly number[]
  /** Number of all running loads, averaged over the window. */
  readonly running: number
  /** Whether any load had to wait for the limit. */
  readonly bound: boolean
}

export interface LoadLimitPolicy {
  /** The limit of a source of which nothing is known. */
  readonly first: LoadLimit
  /** The most samples of a window. */
  readonly samples: number
  /**
   * Closes the window and returns the limit of the next one, or undefined while the window needs
   * more samples.
   */
  next(limit: LoadLimit, window: LoadWindow): LoadLimit | undefined
}
