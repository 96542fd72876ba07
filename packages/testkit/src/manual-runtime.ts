import type { CancelTimer, Runtime } from '@cattlegrid/core'

/** What a manual runtime starts from. */
export interface ManualRuntimeOptions {
  /** Chooses the random numbers and the tokens. Default: the next number, so that two runtimes never hand out the same token. */
  readonly seed?: number | undefined
}

/** A runtime whose time stands still until the test moves it. */
export interface ManualRuntime extends Runtime {
  /** Moves time `ms` on; fires what falls due in order, and lets each timer's consequences settle before the next. */
  advance(ms: number): Promise<void>
  /** As `advance`, up to a moment of `now()`. */
  advanceTo(moment: number): Promise<void>
  /** What `random` returns from here on: a function's word, or these numbers in turn, of which the last repeats. */
  setRandom(source: (() => number) | readonly number[]): void
  /** Timers that have neither fired nor been cancelled. */
  readonly pendingTimers: number
}

interface Timer {
  readonly at: number
  readonly action: () => void
}

const START_OF_CLOCK = 1_000_000
const START_OF_DAY = Date.UTC(2030, 0, 1, 12)
/** A timer that sets itself again at once would otherwise hang the test instead of failing it. */
const MOST_TIMERS = 10_000

let seeds = 0

/** A `Runtime` for tests: no clock is read, nothing waits, and every run is the same. */
export function createManualRuntime({ seed = ++seeds }: ManualRuntimeOptions = {}): ManualRuntime {
  const timers = new Set<Timer>()
  let time = START_OF_CLOCK
  let tokens = 0
  let random = seededRandom(seed)

  const schedule = (action: () => void, delay: number): CancelTimer => {
    const timer = { at: time + Math.max(0, delay), action }
    timers.add(timer)
    return () => {
      timers.delete(timer)
    }
  }
  const advanceTo = async (moment: number): Promise<void> => {
    await settle()
    for (let fired = 0; ; fired += 1) {
      const next = earliest(timers, moment)
      if (next === undefined) break
      if (fired === MOST_TIMERS)
        throw new Error(`${MOST_TIMERS} timers fired within one advance: one sets itself again`)
      timers.delete(next)
      time = Math.max(time, next.at)
      next.action()
      await settle()
    }
    time = Math.max(time, moment)
  }
  return {
    now: () => time,
    coarseNow: () => time,
    timeOfDay: () => START_OF_DAY + time - START_OF_CLOCK,
    random: () => random(),
    token: () => `m${digits(seed, 10)}.${digits(++tokens, 10)}`,
    schedule,
    advance: (ms) => advanceTo(time + ms),
    advanceTo,
    setRandom: (source) => {
      random = typeof source === 'function' ? source : inTurn(source)
    },
    get pendingTimers() {
      return timers.size
    },
  }
}

/** The timer that falls due first; of two at one moment the one that was set first. */
function earliest(timers: Iterable<Timer>, moment: number): Timer | undefined {
  let first: Timer | undefined
  for (const timer of timers) if (timer.at <= moment && (first === undefined || timer.at < first.at)) first = timer
  return first
}

/** A turn of the event loop: every microtask that is due has run when it comes. Taken now, so that no fake timer stands in for it. */
const nextTurn = globalThis.setImmediate

function settle(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve)
  })
}

function inTurn(values: readonly number[]): () => number {
  let index = 0
  return () => values[Math.min(index++, values.length - 1)] ?? 0
}

/** Mulberry32: a small generator whose whole state is one 32-bit number. */
function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function digits(value: number, length: number): string {
  return Math.abs(Math.trunc(value)).toString(36).padStart(length, '0').slice(-length)
}
