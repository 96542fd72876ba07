import { AsyncResource } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { createClock } from './clock.ts'

/** Cancels a timer; does nothing once it has fired. */
export type CancelTimer = () => void

/**
 * Time, timers and randomness. The library reads them nowhere else, so a test can give its own and never has to sleep.
 */
export interface Runtime {
  /** A monotonic clock, ms with fractions, from an arbitrary zero. It counts the time in which the host slept. */
  now(): number
  /** The same clock, read at the first call in each tick of the event loop and at every 17th call: cheap enough for every hit. */
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
  ...createClock({
    monotonic: () => performance.now(),
    timeOfDay: () => Date.now(),
    afterTick: (action) => process.nextTick(action),
  }),
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
