import type { AdmissionControl } from '../flight/admission-control.ts'
import type { Awaiters } from '../flight/awaited.ts'
import type { Flight } from '../flight/flight.ts'
import { takeValue } from '../flight/take-value.ts'
import { ageOf, type Entry, freshForOf } from '../entry.ts'
import type { Outcome } from '../load.ts'
import type { Verdict } from '../policy/policy.ts'
import type { Settings } from '../options/settings.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Lookup } from './result.ts'

/**
 * What a call is served, before the outcome of a load is known: `getOrSet` takes the value, `lookup` adds
 * the outcome.
 */
export interface Served extends Omit<Lookup<unknown>, 'outcome' | 'refresh'> {
  /** The flight that goes on in the background. */
  readonly refresh: Flight | undefined
  /** The flight that ran this call's loader. */
  readonly ownFlight: Flight | undefined
}

/** The state of a call, from one read of the store to the next. */
export class CallState {
  /** Identifies the call in events. */
  readonly id: number
  readonly startedAt: number
  /** The moment at which it last sent, or joined, a read of the store. */
  readAt: number
  /** True once no entry could be served at once, so that the call has to wait for a load. */
  missed = false
  /** True once a read found a stale value that may be served only if a load fails or is slow. */
  foundStale = false
  /** The rest of `waitTimeout`, ms: all time counts but that of loads for which it waits in this process. */
  waitBudget: number
  /** True once it has waited for a flight that brought nothing. */
  reElected = false
  /** Of its last read, and the moment of that judgement. */
  verdict: Verdict = 'gone'
  judgedAt = 0
  /** Of a call from inside a load, or of its whole batch. */
  readonly awaiters: Awaiters | undefined

  readonly #runtime: Runtime

  constructor(id: number, runtime: Runtime, waitTimeout: number, awaiters: Awaiters | undefined) {
    this.id = id
    this.awaiters = awaiters
    this.#runtime = runtime
    this.startedAt = runtime.elapsed()
    this.readAt = this.startedAt
    this.waitBudget = waitTimeout
  }

  judge(verdict: Verdict, now: number): void {
    this.verdict = verdict
    this.judgedAt = now
  }

  /** The time since the call began, ms; 0 if it did not have to wait for a load. */
  get waited(): number {
    return this.missed ? this.#runtime.elapsed() - this.startedAt : 0
  }
}

interface ServeOptions {
  readonly now: number
  readonly role: 'none' | 'follower'
  /** Undefined for an entry that `peek` found: the call has not waited. */
  readonly state: CallState | undefined
  /** The flight that goes on in the background. */
  readonly refresh: Flight | undefined
}

/** Serves an entry that was judged `status`. `settings`: those of the call. */
export function serveEntry(
  settings: Settings,
  entry: Entry,
  status: 'fresh' | 'stale',
  { now, role, state, refresh }: ServeOptions,
): Served {
  const { from } = entry
  const value = takeValue(entry, settings)
  const freshFor = freshForOf(entry, status === 'fresh', now)
  const age = ageOf(entry, now)
  const waited = state?.waited ?? 0
  const foundStale = state?.foundStale === true
  return { value, status, from, role, age, freshFor, foundStale, waited, refresh, ownFlight: undefined }
}

/** Serves a value that was just loaded. `ownFlight` undefined: another call's loader ran. */
export function serveLoaded(
  value: unknown,
  freshFor: number,
  { foundStale, waited }: CallState,
  ownFlight: Flight | undefined,
): Served {
  const role = ownFlight === undefined ? 'follower' : 'leader'
  // One literal: to spread another into it took half as long as the whole load.
  return {
    value,
    status: 'loaded',
    from: 'load',
    role,
    age: 0,
    freshFor,
    foundStale,
    waited,
    refresh: undefined,
    ownFlight,
  }
}

/** The answer of `getOrSet`. */
export function valueOf({ value }: Served): unknown {
  return value
}

/** What is served itself, without its outcome. */
export function identity(served: Served): Served {
  return served
}

/** The answer of `lookup`. The leader's answer waits for the outcome of its load. */
export function lookupOf(served: Served, admission: AdmissionControl): Lookup<unknown> | Promise<Lookup<unknown>> {
  const { ownFlight } = served
  return ownFlight === undefined
    ? withOutcome(served, undefined, admission)
    : ownFlight.outcome.then((outcome) => withOutcome(served, outcome, admission))
}

function withOutcome(served: Served, outcome: Outcome | undefined, admission: AdmissionControl): Lookup<unknown> {
  const { value, status, from, role, age, freshFor, foundStale, waited } = served
  const refresh = served.refresh === undefined ? undefined : admission.awaitedOutcome(served.refresh)
  return { value, status, from, role, age, freshFor, foundStale, waited, outcome, refresh }
}
