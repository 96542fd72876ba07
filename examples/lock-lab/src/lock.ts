import { type Caller, ENTRY, type Key, LOCK, type Program, redis } from './caller.ts'
import type { ExpectedRun, ExpectedStep } from './steps.ts'

/** The properties that a lock for a cache needs, in the order of the table. */
export const PROPERTY_NAMES = [
  'liveness after crash',
  'losers do not extend',
  'two concurrent callers',
  'foreign release',
  'foreign renew',
  'unique token',
  'clock skew',
  'late write',
  'write after invalidation',
  'double check',
  'lock evicted',
  'server restarted',
  'failover',
] as const

export type PropertyName = (typeof PROPERTY_NAMES)[number]

/** The time to live of a lock, ms: far longer than a run, so that the lock expires only where the interleaving says so. */
export const TTL = 60_000

/** A lock and the cache that it protects. */
export interface Lock {
  readonly id: string
  readonly name: string
  /** Where Redis keeps the lock. */
  readonly key: Key
  /** Returns true if the caller may conclude that it holds the lock. */
  acquire(caller: Caller): Program<boolean>
  release(caller: Caller): Program<void>
  /** Undefined if the lock cannot be renewed. */
  readonly renew?: ((caller: Caller) => Program<void>) | undefined
  /** When the lock ends, in any unit: a greater number is later. */
  endsAt(caller: Caller): Program<number>
  /** Returns the cached value, or null. */
  read(caller: Caller): Program<unknown>
  write(caller: Caller, value: string): Program<void>
  invalidate(caller: Caller): Program<void>
  /** The properties that this lock breaks. It must break exactly these. */
  readonly breaks: readonly PropertyName[]
  /** The properties that do not apply to this lock. */
  readonly moot: readonly PropertyName[]
  /** The interleavings that break it, with their replies: the lab must find exactly these. */
  readonly failures: readonly KnownFailure[]
}

export interface KnownFailure extends ExpectedRun {
  readonly property: PropertyName
  /** The step that breaks the property, counted from 1: a command of a caller. */
  readonly breaksAt: number
}

export function failure(
  id: string,
  property: PropertyName,
  why: string,
  breaksAt: number,
  steps: readonly ExpectedStep[],
): KnownFailure {
  return { id, property, why, breaksAt, steps }
}

/** The interleavings in which the lock breaks the property. */
export function failuresOf(lock: Lock, property: PropertyName): readonly KnownFailure[] {
  return lock.failures.filter((one) => one.property === property)
}

/** The folklore's cache: a plain key. The lock's time to live is Redis's own, and nothing ties a write to the lock. */
export const plainCache: Pick<Lock, 'key' | 'endsAt' | 'read' | 'write' | 'invalidate'> = {
  key: LOCK,
  *endsAt() {
    return Number(yield redis('PTTL', LOCK))
  },
  *read() {
    return yield redis('GET', ENTRY)
  },
  *write(_caller, value) {
    yield redis('SET', ENTRY, value, 'PX', TTL)
  },
  *invalidate() {
    yield redis('DEL', ENTRY)
  },
}

/** The properties that every lock breaks if a write does not depend on the lock. */
export const unfencedWrite: readonly PropertyName[] = [
  'write after invalidation',
  'double check',
  'lock evicted',
  'server restarted',
  'failover',
]
