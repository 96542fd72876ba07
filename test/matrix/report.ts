import type { KeyTally } from './tally.ts'

/** Which keys the callers ask for: one that everybody knows, one that has expired but may be served, one that nobody ever heard of. */
export const KEY_KINDS = ['hot', 'stale', 'cold'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** What must reject rather than pretend. */
export const WRITES = ['set', 'delete', 'expire', 'invalidateTags'] as const
export type Write = (typeof WRITES)[number]

/** How long a load takes, ms. */
export const LOAD_TIME = 30
/** What `createCache` waits for the store by default, ms. */
export const STORE_TIMEOUT = 250

/** How long after the healing a process had its answers from the store again, ms; null where it did not within the patience. */
export interface Recovery {
  readonly reads: number | null
  readonly writes: number | null
  /** Loads of the hot key meanwhile. */
  readonly loads: number
}

/** What one process saw. */
export interface MemberReport {
  readonly keys: Readonly<Record<KeyKind, KeyTally>>
  /** How each write ended, by wave: `done`, or the code of its error. */
  readonly writes: Readonly<Record<Write, readonly string[]>>
  /** The slowest of them, ms. */
  readonly slowestWrite: number
  readonly recovery: Recovery | undefined
  /** The longest time, ms, for which the process had no turn during its waves: what an answer took beyond its bound may be the machine's. */
  readonly stalled: number
  /** What would have ended or worried an application: unhandled rejections, uncaught exceptions, warnings of Node. */
  readonly trouble: readonly string[]
}
