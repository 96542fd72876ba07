import type { Caller } from './caller.ts'
import { ENTRY, type Key, LOCK, type Program, redis } from './command.ts'
import type { PropertyName } from './property-name.ts'
import type { Told } from './told.ts'

/** How long a lock lives unless it is released, ms: far longer than a play takes, which lets it expire where the play says so. */
export const TTL = 60_000

/** A lock and the cache behind it. Every operation is code that sends its commands one by one. */
export interface Lock {
  readonly id: string
  readonly name: string
  /** Where Redis keeps it. */
  readonly key: Key
  /** Returns whether the caller may believe that it holds the lock. */
  acquire(caller: Caller): Program<boolean>
  release(caller: Caller): Program<void>
  /** Undefined where the lock cannot be held longer than it was asked for. */
  readonly renew?: ((caller: Caller) => Program<void>) | undefined
  /** When the lock ends, in whatever unit: a greater number is later. */
  end(caller: Caller): Program<number>
  /** The cached value, or null. */
  read(caller: Caller): Program<unknown>
  write(caller: Caller, value: string): Program<void>
  invalidate(caller: Caller): Program<void>
  /** The properties that it breaks; it must break exactly these. */
  readonly breaks: readonly PropertyName[]
  /** The properties whose question cannot be put to it. */
  readonly moot: readonly PropertyName[]
  /** How it breaks: the interleavings that the lab must find and see happen, step by step. */
  readonly told: readonly Told[]
}

/** What folklore does beside the lock: the time to live is Redis's, and the cache is a plain key that knows nothing of the lock. */
export const plainKeys: Pick<Lock, 'key' | 'end' | 'read' | 'write' | 'invalidate'> = {
  key: LOCK,
  *end() {
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

/** What breaks wherever the write to the cache is not tied to the lock, however good the lock is. */
export const untiedWrite: readonly PropertyName[] = [
  'write after invalidation',
  'double check',
  'lock evicted',
  'server restarted',
  'failover',
]
