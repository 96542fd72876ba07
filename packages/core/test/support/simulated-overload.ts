import type { LoadLimit } from '../../src/policy/policy.ts'
import { SimulatedFleet } from './simulated-fleet.ts'
import { seeded, SimulatedSource, SimulatedTime, type ServiceTimes } from './simulated-source.ts'

const KEYS = 5_000
/** A caller goes away after this time, ms. */
const PATIENCE = 10_000
/** An answer within this time is good, ms. */
const GOOD = 2_000

export interface OverloadOptions {
  readonly seed?: number
  readonly atOnce?: number
  readonly knee?: number
  readonly service?: ServiceTimes
  readonly processes?: number
  /** Time from the flush to the end, ms. */
  readonly duration?: number
  /** Calls a second. */
  readonly rate?: number
  /** Undefined: nothing is cached, and every key is asked as often as every other. */
  readonly ttl?: number | undefined
  /** A number is a fixed limit of the fleet. */
  readonly limit?: 'auto' | number
  /** Traffic on a warm cache before the flush, ms. */
  readonly warmUp?: number
  /** The key that always fails, fast. Keys are numbered by their heat. */
  readonly failing?: number
  readonly changes?: readonly Change[]
  readonly trace?: (line: string) => void
}

/** What happens to the source at a time after the flush. */
export interface Change {
  readonly at: number
  readonly what: 'fewer workers' | 'more workers' | 'slower' | 'faster' | 'hang' | 'other client'
}

export interface Second {
  calls: number
  good: number
  loads: number
}

export interface OverloadResult {
  readonly seconds: readonly Second[]
  /** Times of the answers in the last half of the run, sorted, ms. */
  readonly answers: readonly number[]
  readonly longestQueue: number
  readonly state: LoadLimit
  /** The limit at the end of each second. */
  readonly limits: readonly number[]
}

/** Runs calls on a cold cache in front of one source. */
export function simulateOverload(options: OverloadOptions): OverloadResult {
  const { seed = 1, atOnce = 30, knee = 200, service = 'even', processes = 4, limit = 'auto' } = options
  const { duration = 100_000, rate = 2_000, warmUp = 0, failing = -1, changes = [], trace } = options
  const ttl = 'ttl' in options ? options.ttl : 60_000
  // A generator each: a run without a limit sees the same calls.
  const [random, loadTimes, shares] = [seeded(seed), seeded(seed + 1_000), seeded(seed + 2_000)] as const
  const time = new SimulatedTime()
  const source = new SimulatedSource(time, loadTimes, { atOnce, knee, service })
  const expiry = new Map<number, number>()
  const fleet = new SimulatedFleet(time, source, shares, {
    processes,
    limit,
    trace,
    fails: (key) => key === failing,
    onLoaded: (key) => ttl !== undefined && expiry.set(key, time.now + ttl * (1 - 0.1 * shares())),
  })
  const seconds: Second[] = []
  const answers: number[] = []
  const limits: number[] = []
  const pick = ttl === undefined ? (): number => Math.floor(random() * 1e9) : zipf(random)
  const call = (): void => {
    const began = time.now
    const key = pick()
    const second = began < warmUp ? undefined : secondAt(seconds, began - warmUp)
    if (second !== undefined) second.calls++
    const end = (kind: 'value' | 'failed'): void => {
      const took = time.now - began
      if (second !== undefined && kind === 'value' && took <= GOOD) second.good++
      if (began > warmUp + duration / 2) answers.push(took)
    }
    if ((expiry.get(key) ?? 0) > time.now) return end('value')
    const flight = fleet.call(key, end)
    time.after(PATIENCE, () => flight.waiting--)
  }
  const arrive = (): void => {
    call()
    time.after((-Math.log(1 - random()) / rate) * 1_000, arrive)
  }
  const everySecond = (loads: number): void => {
    if (time.now > warmUp) secondAt(seconds, time.now - warmUp - 1).loads = fleet.loads - loads
    limits.push(fleet.state.limit)
    const before = fleet.loads
    time.after(1_000, () => everySecond(before))
  }
  if (warmUp > 0 && ttl !== undefined) for (let key = 0; key < KEYS; key++) expiry.set(key, random() * ttl)
  time.after(warmUp, () => expiry.clear())
  for (const change of changes) time.after(warmUp + change.at, () => apply(change.what, source, time, atOnce))
  time.after(1_000, () => everySecond(0))
  arrive()
  time.runUntil(warmUp + duration)
  answers.sort((a, b) => a - b)
  return {
    seconds: seconds.slice(0, duration / 1_000),
    answers,
    longestQueue: source.longestQueue,
    state: fleet.state,
    limits,
  }
}

function secondAt(seconds: Second[], time: number): Second {
  return (seconds[Math.floor(time / 1_000)] ??= { calls: 0, good: 0, loads: 0 })
}

/** Picks keys by Zipf's law with exponent 1. */
function zipf(random: () => number): () => number {
  const sums: number[] = []
  let sum = 0
  for (let rank = 1; rank <= KEYS; rank++) sums.push((sum += 1 / rank))
  return () => {
    const wanted = random() * sum
    let [low, high] = [0, KEYS - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

function apply(what: Change['what'], source: SimulatedSource, time: SimulatedTime, atOnce: number): void {
  if (what === 'fewer workers') source.workers = Math.max(1, Math.round(source.workers / 2))
  else if (what === 'more workers') source.workers *= 2
  else if (what === 'slower') source.serviceTime *= 2
  else if (what === 'faster') source.serviceTime /= 2
  else if (what === 'hang') source.hang(5_000)
  else {
    const end = time.now + 20_000
    const ask = (): void => {
      if (time.now < end) source.load(0, ask)
    }
    for (let client = 0; client < Math.ceil(atOnce / 2); client++) ask()
  }
}

/** The share of good answers in seconds `from` to `to` after the flush, percent. */
export function goodShare({ seconds }: OverloadResult, from: number, to = seconds.length - 2): number {
  const part = seconds.slice(from, to)
  return (100 * part.reduce((sum, { good }) => sum + good, 0)) / part.reduce((sum, { calls }) => sum + calls, 0)
}

/** Loads begun from second `from` to second `to`, a second. */
export function loadsPerSecond({ seconds }: OverloadResult, from: number, to = seconds.length - 1): number {
  return seconds.slice(from, to).reduce((sum, { loads }) => sum + loads, 0) / (to - from)
}

/** A quantile of the times of the answers, ms. */
export function answerTime({ answers }: OverloadResult, quantile: number): number {
  return answers[Math.floor(answers.length * quantile)] ?? 0
}
