import type { Entry } from './entry.ts'
import type { Flight } from './flight.ts'
import type { Outcome } from './load.ts'

/** A value, and how it came. Times in ms. */
export interface Lookup<V> {
  readonly value: V
  readonly status: 'fresh' | 'stale' | 'loaded'
  readonly from: 'near' | 'store' | 'outage' | 'load'
  /** `leader`: this call's loader ran. `follower`: another call's did, here or elsewhere. `none`: nobody had to load for this answer. */
  readonly role: 'none' | 'leader' | 'follower'
  /** Since the commit; 0 for a value just loaded. */
  readonly age: number
  /** Until it stops being fresh; negative for a stale one. */
  readonly freshFor: number
  /** How long this call waited for a load. */
  readonly waited: number
  /** How the load of this call's own loader ended, when it is over. */
  readonly outcome: Outcome | undefined
  /** A load that goes on behind; never rejects. */
  readonly refresh: Promise<Outcome> | undefined
}

/** An answer on its way to the caller; `own` is the flight that ran this call's loader. */
export interface Answer {
  readonly lookup: Lookup<unknown>
  readonly own: Flight | undefined
}

/** How an entry came to answer a call; `status` is what it was judged to be at `now`. */
export interface Served {
  readonly now: number
  readonly status: 'fresh' | 'stale'
  readonly role: 'none' | 'follower'
  readonly waited: number
  readonly refresh: Promise<Outcome> | undefined
}

export function fromEntry({ value, bornAt, freshUntil, from }: Entry, served: Served): Answer {
  const { now, status, role, waited, refresh } = served
  const freshFor = status === 'fresh' ? Math.max(0, freshUntil - now) : Math.min(0, freshUntil - now)
  const age = Math.max(0, now - bornAt)
  const lookup = { value, status, from, role, age, freshFor, waited, outcome: undefined, refresh } as const
  return { lookup, own: undefined }
}

export function fromLoad(value: unknown, freshFor: number, waited: number, own: Flight | undefined): Answer {
  const role = own === undefined ? 'follower' : 'leader'
  const load = {
    value,
    status: 'loaded',
    from: 'load',
    role,
    age: 0,
    freshFor,
    waited,
    outcome: undefined,
    refresh: undefined,
  } as const
  return { lookup: load, own }
}

/** With the outcome of the load that it led, which its caller waits for too. */
export function lookupOf({ lookup, own }: Answer): Lookup<unknown> | Promise<Lookup<unknown>> {
  return own === undefined ? lookup : own.outcome.then((outcome) => ({ ...lookup, outcome }))
}

/** What `getOrSet` hands out of it. */
export function valueOf({ lookup }: Answer): unknown {
  return lookup.value
}
