import type { Entry } from '../entry.ts'

/** What an entry is good for at one moment: served; served while a refresh runs behind; served only if a load fails; nothing. */
export type Verdict = 'fresh' | 'stale' | 'if-error' | 'gone'

/** How much stricter than the entry's own windows a call is. */
export interface Strictness {
  /** An entry older than this, ms, is not good enough. */
  readonly maxAge: number
  readonly allowStaleWhileRevalidate: boolean
  readonly allowStaleIfError: boolean
}

/** Decides, and does nothing else: the engine acts on the verdict. */
export interface FreshnessPolicy {
  judge(entry: Entry, now: number, strictness: Strictness): Verdict
}

export interface CooldownPolicy {
  /** How long nobody loads after the `attempts`-th failure in a row, ms. */
  after(attempts: number, limits: CooldownLimits): number
}

export interface CooldownLimits {
  readonly min: number
  readonly max: number
}

/** `beta`: at a random moment that lies the earlier the longer the load takes; `before`: this long before freshness ends, ms. */
export type EarlyRefresh = { readonly beta: number } | { readonly before: number }

export interface EarlyRefreshPolicy {
  /** Whether a fresh entry is to be refreshed behind already; the lease decides who does it. */
  due(key: string, entry: Entry, now: number, early: EarlyRefresh): boolean
}
