import type { Engine } from '../flight/engine.ts'
import { type Call, verdictOn } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import type { Flight } from '../flight/flight.ts'
import type { Outcome } from '../load.ts'
import type { Lookup } from './lookup.ts'

/** What a call is told at the end of its road. A lookup as it is, without an object in between: `getOrSet` takes its value and lets it go. */
export interface LookupResult extends Omit<Lookup<unknown>, 'outcome'> {
  /** The flight that ran this call's loader. */
  readonly own: Flight | undefined
}

/** What a call carries from one look to the next. */
export interface CallState {
  readonly began: number
  /** When it asked the store last. */
  readAt: number
  /** Whether the call has had to wait for a load. */
  waits: boolean
  /** What is left of `waitTimeout`, ms. */
  budget: number
}

/** How an entry comes to answer a call, at `now`. */
export interface Serving {
  readonly now: number
  readonly role: 'none' | 'follower'
  readonly progress: CallState | undefined
  readonly refresh: Promise<Outcome> | undefined
}

/** Serves an entry, which is told as a hit; `status` is what it was judged to be. */
export function serve(
  { events }: Engine,
  key: string,
  entry: Entry,
  status: 'fresh' | 'stale',
  { now, role, progress, refresh }: Serving,
): LookupResult {
  const { value, from, committedAt, freshUntil } = entry
  const freshFor = status === 'fresh' ? Math.max(0, freshUntil - now) : Math.min(0, freshUntil - now)
  const age = Math.max(0, now - committedAt)
  if (events.hasListeners('hit')) events.emit('hit', { key, status, age, freshFor })
  const waited = progress === undefined ? 0 : waitedBy(progress, now)
  return { value, status, from, role, age, freshFor, waited, refresh, own: undefined }
}

/** Serves what another's load has brought to a call that has waited for it, if it may have that without an error. */
export function serveFound(
  engine: Engine,
  call: Call,
  entry: Entry,
  now: number,
  progress: CallState,
): LookupResult | undefined {
  const verdict = verdictOn(engine, call, entry, now)
  if (verdict !== 'fresh' && verdict !== 'stale') return undefined
  return serve(engine, call.key, entry, verdict, { now, role: 'follower', progress, refresh: undefined })
}

/** Serves a call that has waited the entry that it had in hand all the time, unless its last window has closed. */
export function serveFallback(engine: Engine, call: Call, entry: Entry, serving: Serving): LookupResult | undefined {
  const verdict = verdictOn(engine, call, entry, serving.now)
  return verdict === 'gone'
    ? undefined
    : serve(engine, call.key, entry, verdict === 'fresh' ? 'fresh' : 'stale', serving)
}

/** `own`: the call's own flight, where its loader ran; undefined: another call's did. */
export function loaded(value: unknown, freshFor: number, waited: number, own: Flight | undefined): LookupResult {
  const role = own === undefined ? 'follower' : 'leader'
  return { value, status: 'loaded', from: 'load', role, age: 0, freshFor, waited, refresh: undefined, own }
}

/** How long a call has waited for a load, ms. */
export function waitedBy({ waits, began }: CallState, now: number): number {
  return waits ? now - began : 0
}

/** With the outcome of the load that it led, which its caller waits for too. */
export function lookupOf(answer: LookupResult): Lookup<unknown> | Promise<Lookup<unknown>> {
  const { own } = answer
  return own === undefined
    ? withOutcome(answer, undefined)
    : own.outcome.then((outcome) => withOutcome(answer, outcome))
}

/** What `getOrSet` hands out of it. */
export function valueOf({ value }: LookupResult): unknown {
  return value
}

/** The answer itself, for those that need more of it than the value and wait for no outcome. */
export function identity(answer: LookupResult): LookupResult {
  return answer
}

function withOutcome(answer: LookupResult, outcome: Outcome | undefined): Lookup<unknown> {
  const { value, status, from, role, age, freshFor, waited, refresh } = answer
  return { value, status, from, role, age, freshFor, waited, outcome, refresh }
}
