import type { Call, Engine } from './engine.ts'
import type { Entry } from './entry.ts'
import type { Flight } from './flight.ts'
import type { Outcome } from './load.ts'
import type { Lookup } from './lookup.ts'

/** What a call is told at the end of its road. One object, made for every answer: a herd is answered in one breath. */
export interface Answer extends Omit<Lookup<unknown>, 'outcome'> {
  /** The flight that ran this call's loader. */
  readonly own: Flight | undefined
}

/** What a call carries from one look to the next. */
export interface Progress {
  readonly began: number
  /** When it asked the store last. */
  asked: number
  /** Whether the call has had to wait for a load. */
  waits: boolean
  /** What is left of `waitTimeout`, ms. */
  budget: number
}

/** How an entry comes to answer a call, at `now`. */
export interface Serving {
  readonly now: number
  readonly role: 'none' | 'follower'
  readonly progress: Progress | undefined
  readonly refresh: Promise<Outcome> | undefined
}

/** Serves an entry, which is told as a hit; `status` is what it was judged to be. */
export function serve(
  { events }: Engine,
  key: string,
  entry: Entry,
  status: 'fresh' | 'stale',
  { now, role, progress, refresh }: Serving,
): Answer {
  const { value, from, bornAt, freshUntil } = entry
  const freshFor = status === 'fresh' ? Math.max(0, freshUntil - now) : Math.min(0, freshUntil - now)
  const age = Math.max(0, now - bornAt)
  if (events.heard('hit')) events.emit('hit', { key, status, age, freshFor })
  const waited = progress === undefined ? 0 : waitedBy(progress, now)
  return { value, status, from, role, age, freshFor, waited, refresh, own: undefined }
}

/** Serves an entry to a call that has waited, unless its last window has closed, or it is the one that will not do. */
export function serveUsable(
  engine: Engine,
  { key, settings, not }: Call,
  entry: Entry,
  serving: Serving,
): Answer | undefined {
  const verdict = entry.version === not ? 'gone' : engine.freshness.judge(entry, serving.now, settings)
  return verdict === 'gone' ? undefined : serve(engine, key, entry, verdict === 'fresh' ? 'fresh' : 'stale', serving)
}

export function loaded(value: unknown, freshFor: number, waited: number, own: Flight | undefined): Answer {
  const role = own === undefined ? 'follower' : 'leader'
  return { value, status: 'loaded', from: 'load', role, age: 0, freshFor, waited, refresh: undefined, own }
}

/** How long a call has waited for a load, ms. */
export function waitedBy({ waits, began }: Progress, now: number): number {
  return waits ? now - began : 0
}
