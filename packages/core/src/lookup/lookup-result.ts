import type { EngineServices } from '../flight/engine-services.ts'
import { type Call, judge } from '../flight/call.ts'
import { takeValue } from '../flight/take-value.ts'
import { ageOf, type Entry, freshForOf } from '../entry.ts'
import type { Flight } from '../flight/flight.ts'
import type { Awaiters } from '../flight/awaited-call.ts'
import type { AdmissionControl } from '../flight/admission-control.ts'
import type { Outcome } from '../load.ts'
import { awaitedOutcome } from './awaited-outcome.ts'
import type { Lookup } from './lookup.ts'
import type { Settings } from '../options/settings.ts'
import type { Runtime } from '../runtime/runtime.ts'

/** The result of a call before its outcome is known: `getOrSet` takes the value, `lookup` adds the outcome. */
export interface LookupResult extends Omit<Lookup<unknown>, 'outcome' | 'refresh'> {
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

  /** The time since the call began, ms; 0 if it did not have to wait for a load. */
  get waited(): number {
    return this.missed ? this.#runtime.elapsed() - this.startedAt : 0
  }
}

export interface ServeOptions {
  readonly now: number
  readonly role: 'none' | 'follower'
  /** Undefined for an entry that `peek` found: the call has not waited. */
  readonly state: CallState | undefined
  /** The flight that goes on in the background. */
  readonly refresh: Flight | undefined
}

/** Makes a result of an entry that was judged `status`. `settings`: those of the call. */
export function serveEntry(
  settings: Settings,
  entry: Entry,
  status: 'fresh' | 'stale',
  { now, role, state, refresh }: ServeOptions,
): LookupResult {
  const { from } = entry
  const value = takeValue(entry, settings)
  const freshFor = freshForOf(entry, status === 'fresh', now)
  const age = ageOf(entry, now)
  const waited = state?.waited ?? 0
  const foundStale = state?.foundStale === true
  return { value, status, from, role, age, freshFor, foundStale, waited, refresh, ownFlight: undefined }
}

/** Makes the result of an entry that a flight found for a waiting call. Undefined if the verdict is `if-error` or `gone`. */
export function serveFound(
  services: EngineServices,
  call: Call,
  entry: Entry,
  now: number,
  state: CallState,
): LookupResult | undefined {
  const verdict = judge(services, call, entry, now)
  if (verdict !== 'fresh' && verdict !== 'stale') return undefined
  return serveEntry(call.settings, entry, verdict, { now, role: 'follower', state, refresh: undefined })
}

/** Serves the stale entry that a call had before it waited. Undefined if the last stale window has closed meanwhile. */
export function serveFallback(
  services: EngineServices,
  call: Call,
  entry: Entry,
  options: ServeOptions,
): LookupResult | undefined {
  const verdict = judge(services, call, entry, options.now)
  return verdict === 'gone'
    ? undefined
    : serveEntry(call.settings, entry, verdict === 'fresh' ? 'fresh' : 'stale', options)
}

/** Makes a result of a value that was just loaded. `ownFlight` undefined: another call's loader ran. */
export function loadedResult(
  value: unknown,
  freshFor: number,
  state: CallState,
  ownFlight: Flight | undefined,
): LookupResult {
  const role = ownFlight === undefined ? 'follower' : 'leader'
  const { foundStale } = state
  const { waited } = state
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

/** The answer of `lookup`. The leader's answer waits for the outcome of its load. */
export function lookupOf(
  result: LookupResult,
  admission: AdmissionControl,
): Lookup<unknown> | Promise<Lookup<unknown>> {
  const { ownFlight } = result
  return ownFlight === undefined
    ? withOutcome(result, undefined, admission)
    : ownFlight.outcome.then((outcome) => withOutcome(result, outcome, admission))
}

/** The answer of `getOrSet`. */
export function valueOf({ value }: LookupResult): unknown {
  return value
}

/** The result itself, without its outcome. */
export function identity(result: LookupResult): LookupResult {
  return result
}

function withOutcome(result: LookupResult, outcome: Outcome | undefined, admission: AdmissionControl): Lookup<unknown> {
  const { value, status, from, role, age, freshFor, foundStale, waited } = result
  const refresh = result.refresh === undefined ? undefined : awaitedOutcome(result.refresh, admission)
  return { value, status, from, role, age, freshFor, foundStale, waited, outcome, refresh }
}
