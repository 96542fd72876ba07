import type { CancelTimer, Runtime } from '@cattlegrid/core/extend'

/** The options of `createManualRuntime`. */
export interface ManualRuntimeOptions {
  /**
   * Determines the random numbers and the tokens. Default: the next unused number, so that no two runtimes
   * return the same token.
   */
  readonly seed?: number | undefined
}

/** A runtime whose time moves only when the test moves it. */
export interface ManualRuntime extends Runtime {
  /**
   * Moves time forward by `ms`. Fires the timers that fall due in order, and runs all pending promise
   * callbacks after each.
   */
  advance(ms: number): Promise<void>
  /** Lets the host sleep for `ms`: entries are older then, and no timer has come nearer. */
  sleep(ms: number): void
  /** As `advance`, up to the time `moment` on the clock of `now()`. */
  advanceTo(moment: number): Promise<void>
  /**
   * Sets what `random` returns from now on: the result of a function, or these numbers in turn and then the
   * last one again and again.
   */
  setRandom(source: (() => number) | readonly number[]): void
  /** Timers that have neither fired nor been cancelled. */
  readonly pendingTimers: number
}

interface Timer {
  readonly at: number
  readonly action: () => void
}

const START_OF_CLOCK = 1_000_000
/**
 * The lead of `now` over `elapsed`, so that a moment of one that is taken for a moment of the other makes a
 * test fail.
 */
const LEAD = 100_000_000
const START_OF_DAY = Date.UTC(2030, 0, 1, 12)
/** Without this limit, a timer that always sets itself again would hang the test instead of failing it. */
const MOST_TIMERS = 10_000

let seeds = 0
let isProductionTold = false

/** Time that nobody moves: nothing expires, and no time-out ends. */
function warnInProduction(): void {
  if (process.env['NODE_ENV'] !== 'production' || isProductionTold) return
  isProductionTold = true
  process.emitWarning(
    'createManualRuntime() of @cattlegrid/testkit was called with NODE_ENV=production: its time stands still, so nothing that uses it expires or times out. ' +
      'Leave the option runtime out outside of tests.',
    { type: 'CattlegridWarning', code: 'CATTLEGRID_MANUAL_RUNTIME' },
  )
}

/**
 * Creates a `Runtime` for tests. It reads no clock and waits for nothing, so every run with the same seed is
 * the same.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { createManualRuntime } from '@cattlegrid/testkit'
 *
 * const runtime = createManualRuntime({ seed: 1 })
 * const cache = createCache({ runtime, ttl: '1m' })
 * await runtime.advance(60_000)
 */
export function createManualRuntime({ seed = ++seeds }: ManualRuntimeOptions = {}): ManualRuntime {
  warnInProduction()
  const timers = new Set<Timer>()
  let time = START_OF_CLOCK
  let lead = LEAD
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
    now: () => time + lead,
    coarseNow: () => time + lead,
    elapsed: () => time,
    timeOfDay: () => START_OF_DAY + time + lead - LEAD - START_OF_CLOCK,
    random: () => random(),
    token: () => `m${digits(seed, 10)}.${digits(++tokens, 10)}`,
    schedule,
    advance: (ms) => advanceTo(time + ms),
    advanceTo: (moment) => advanceTo(moment - lead),
    sleep: (ms) => {
      lead += ms
    },
    setRandom: (source) => {
      random = typeof source === 'function' ? source : inTurn(source)
    },
    get pendingTimers() {
      return timers.size
    },
  }
}

/** The timer that falls due first. Of two that fall due together, the one that was set first. */
function earliest(timers: Iterable<Timer>, moment: number): Timer | undefined {
  let first: Timer | undefined
  for (const timer of timers) if (timer.at <= moment && (first === undefined || timer.at < first.at)) first = timer
  return first
}

/**
 * When it fires, every pending microtask has run. Read at load time, before a test runner can replace it with
 * a fake timer.
 */
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
