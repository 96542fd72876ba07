import type { ExplainedEvent, Explanation } from '@cattlegrid/explain'

/** A trace in the JSON that Perfetto and chrome://tracing open. */
export interface Trace {
  readonly displayTimeUnit: 'ms'
  readonly traceEvents: readonly TraceEvent[]
}

/**
 * `M` names a process or a track, `X` is a span, `i` an instant. `ts` and `dur`: microseconds.
 *
 * Source: "Trace Event Format", the document of the Chromium project.
 */
interface TraceEvent {
  readonly ph: 'M' | 'X' | 'i'
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly ts?: number
  readonly dur?: number
  /** The width of an instant: its track. */
  readonly s?: 't'
  readonly args: Readonly<Record<string, unknown>>
}

/** The track of what no flight did. */
const NO_FLIGHT = 0

/** The events of some keys: a process per process, a track per flight, each load as a span. */
export function traceOf(explanations: readonly Pick<Explanation, 'at' | 'events'>[]): Trace {
  const processes = new Map<string, number>()
  const tracks = new Set<string>()
  const traceEvents: TraceEvent[] = []
  for (const { at, events } of explanations)
    for (const event of events) {
      const pid = numberOf(event, processes, traceEvents)
      const tid = trackOf(event)
      if (!tracks.has(`${pid} ${tid}`)) traceEvents.push(named('thread_name', pid, tid, trackName(tid)))
      tracks.add(`${pid} ${tid}`)
      const mark = markOf(event, events, at)
      if (mark !== undefined) traceEvents.push({ ...mark, pid, tid })
    }
  return { displayTimeUnit: 'ms', traceEvents }
}

/** A number per process and cache: in containers, many processes have pid 1. */
function numberOf({ process }: ExplainedEvent, known: Map<string, number>, traceEvents: TraceEvent[]): number {
  const name = `pid ${process.pid} on ${process.host} (${process.name})`
  const number = known.get(name) ?? known.size + 1
  if (!known.has(name)) traceEvents.push(named('process_name', number, NO_FLIGHT, name))
  known.set(name, number)
  return number
}

function trackOf({ fields }: ExplainedEvent): number {
  const { flight } = fields
  return typeof flight === 'number' ? flight : NO_FLIGHT
}

function trackName(tid: number): string {
  return tid === NO_FLIGHT ? 'calls and invalidations' : `flight ${tid}`
}

function named(name: 'process_name' | 'thread_name', pid: number, tid: number, text: string): TraceEvent {
  return { ph: 'M', name, pid, tid, args: { name: text } }
}

/**
 * `load` is a span up to its `outcome`, or up to the question while it has none; the outcome itself is
 * its end.
 */
function markOf(
  event: ExplainedEvent,
  events: readonly ExplainedEvent[],
  askedAt: number,
): Omit<TraceEvent, 'pid' | 'tid'> | undefined {
  const { type, at, key, count, fields, failure } = event
  const args = { key, count, ...fields, failure }
  const ts = at * 1000
  if (type !== 'load') {
    const ends = type === 'outcome' && events.some((one) => one.type === 'load' && isSameFlight(one, event))
    return ends ? undefined : { ph: 'i', s: 't', name: type, ts, args }
  }
  const outcome = events.find((one) => one.type === 'outcome' && one.at >= at && isSameFlight(one, event))
  const dur = Math.max(0, (outcome?.at ?? askedAt) - at) * 1000
  return {
    ph: 'X',
    name: type,
    ts,
    dur,
    args: { ...args, ...(outcome?.fields ?? { outcome: 'none yet' }), failure: outcome?.failure },
  }
}

function isSameFlight(one: ExplainedEvent, other: ExplainedEvent): boolean {
  return one.process === other.process && one.key === other.key && trackOf(one) === trackOf(other)
}
