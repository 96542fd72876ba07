import { AsyncResource } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'

/** Cancels a timer; does nothing once it has fired. */
export type CancelTimer = () => void

/**
 * Time, timers and randomness. The library reads them nowhere else, so a test can give its own and never has to sleep.
 */
export interface Runtime {
  /** A monotonic clock, ms with fractions, from an arbitrary zero. */
  now(): number
  /** The same clock, read at most once a millisecond, or, while the process is too busy for timers, at every 17th call: cheap enough for every hit. */
  coarseNow(): number
  /** The time of day, ms since 1970: for the HTTP fields that carry one, never for freshness. */
  timeOfDay(): number
  /** Uniform in [0, 1). */
  random(): number
  /** 22 URL-safe characters that no other call, in any process, returns. */
  token(): string
  /** Runs `action` once, `delay` ms from now. Keeps the process alive until then only if `keepsAlive`, as the drain of `close` does. */
  schedule(action: () => void, delay: number, keepsAlive?: boolean): CancelTimer
}

/** The longest timer, ms (about 24 days): Node fires a longer one at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** So many coarse readings share one reading of the clock while no timer can run: at most so many hits see no time pass. */
const COARSE_READINGS = 16

function createCoarseClock(): () => number {
  let time = 0
  let readings = 0
  let forgetting = false
  const forget = (): void => {
    forgetting = false
    readings = 0
  }
  const read = (): void => {
    time = performance.now()
    readings = COARSE_READINGS
    if (!forgetting) setTimeout(forget, 1).unref()
    forgetting = true
  }
  return () => {
    if (readings > 0) readings -= 1
    else read()
    return time
  }
}

function createTokens(): () => string {
  // 16 random characters for the process, 6 that count: unique without reading the random source each time.
  const base = randomBytes(12).toString('base64url')
  let count = 0
  return () => {
    count = (count + 1) % 36 ** 6
    return base + count.toString(36).padStart(6, '0')
  }
}

function schedule(action: () => void, delay: number, keepsAlive = false): CancelTimer {
  const timer = setTimeout(action, Math.min(delay, LONGEST_TIMER))
  if (!keepsAlive) timer.unref()
  return () => {
    clearTimeout(timer)
  }
}

/** The runtime of a real process. */
export const systemRuntime: Runtime = {
  now: () => performance.now(),
  coarseNow: createCoarseClock(),
  timeOfDay: () => Date.now(),
  random: () => Math.random(),
  token: createTokens(),
  schedule,
}

const detached = new AsyncResource('cattlegrid')

/**
 * Runs `fn` outside the caller's async context. In Node a promise or a timer keeps the AsyncLocalStorage in which it was made: one that
 * outlives its request would keep that request's whole context in memory.
 */
export function runDetached<T>(fn: () => T): T {
  return detached.runInAsyncScope(fn)
}
