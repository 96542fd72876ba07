import type { Answer } from './answer.ts'
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

/** With the outcome of the load that it led, which its caller waits for too. */
export function lookupOf(answer: Answer): Lookup<unknown> | Promise<Lookup<unknown>> {
  const { own } = answer
  return own === undefined ? toldOf(answer, undefined) : own.outcome.then((outcome) => toldOf(answer, outcome))
}

/** What `getOrSet` hands out of it. */
export function valueOf({ value }: Answer): unknown {
  return value
}

/** What somebody needs who wants all of it. */
export function wholeOf(answer: Answer): Answer {
  return answer
}

function toldOf(answer: Answer, outcome: Outcome | undefined): Lookup<unknown> {
  const { value, status, from, role, age, freshFor, waited, refresh } = answer
  return { value, status, from, role, age, freshFor, waited, outcome, refresh }
}
