import { AsyncResource } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'
import { nextTick } from 'node:process'
import { createClock } from './clock.ts'

/** Cancels a timer; does nothing once it has fired. */
export type CancelTimer = () => void

/**
 * Time, timers and randomness. The library reads them nowhere else, so a test can give its own and never has
 * to sleep.
 */
export interface Runtime {
  /**
   * A monotonic clock, ms with fractions, from an arbitrary zero. It counts the time in which the host slept.
   */
  now(): number
  /**
   * A monotonic clock, ms with fractions, from another arbitrary zero. It stands still while the host sleeps:
   * for waits, leases, pauses, budgets and time-outs, which must not end because a laptop was closed.
   */
  elapsed(): number
  /**
   * The clock of `now`, read at the first call in each tick of the event loop and at every 17th call: cheap
   * enough for every hit.
   */
  coarseNow(): number
  /** The time of day, ms since 1970: for the HTTP fields that carry one, never for freshness. */
  timeOfDay(): number
  /** Uniform in [0, 1). */
  random(): number
  /** 22 URL-safe characters that no other call, in any process, returns. */
  token(): string
  /**
   * Runs `action` once, `delay` ms from now. Keeps the process alive until then only if `keepsAlive`, as the
   * drain of `close` does.
   */
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

// Read when this module is loaded, all of them: what a test puts in their place later, such as fake timers,
// changes nothing in a cache. Half of it would.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis
const monotonic = performance.now.bind(performance)
const timeOfDay = Date.now.bind(Date)
const afterTick = nextTick
/** As the global one, which fake timers replace. */
export const queueMicrotask: typeof globalThis.queueMicrotask = globalThis.queueMicrotask

function schedule(action: () => void, delay: number, keepsAlive = false): CancelTimer {
  const timer = startTimer(action, Math.min(delay, LONGEST_TIMER))
  if (!keepsAlive) timer.unref()
  return () => {
    stopTimer(timer)
  }
}

/** The runtime of a real process. */
export const systemRuntime: Runtime = {
  ...createClock({ monotonic, timeOfDay, sinceStart: () => uptime() * 1000, afterTick }),
  timeOfDay,
  random: () => Math.random(),
  token: createTokens(),
  schedule,
}

const detached = new AsyncResource('cattlegrid')

/**
 * Runs `fn` outside the caller's async context. In Node a promise or a timer keeps the AsyncLocalStorage in
 * which it was made: one that outlives its request would keep that request's whole context in memory.
 */
export function runDetached<T>(fn: () => T): T {
  return detached.runInAsyncScope(fn)
}
