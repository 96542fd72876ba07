import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer, Runtime } from '@cattlegrid/core/extend'

/**
 * The number of checks without an answer before it reconnects. More than one: after a suspension, the process
 * must first read what has arrived.
 */
const CHECKS = 3

/**
 * Watches a connection. A peer that has vanished looks like one that is busy; only time tells them apart. So
 * when commands are pending and none was answered for `maxSilence` ms, the watchdog calls `reconnect`.
 */
export class Watchdog {
  readonly #runtime: Runtime
  readonly #pause: number
  readonly #reconnect: () => void
  /**
   * Runs the timers outside the async context of a request: a timer keeps the context in which it is created,
   * and each one creates the next.
   */
  readonly #scope = new AsyncResource('cattlegrid')
  #pending = 0
  #silentChecks = 0
  #timer: CancelTimer | undefined

  constructor(runtime: Runtime, maxSilence: number, reconnect: () => void) {
    this.#runtime = runtime
    // Randomised, so that the processes do not all reconnect at once after their server was frozen.
    this.#pause = (maxSilence * (1 + runtime.random() / 4)) / (CHECKS - 1)
    this.#reconnect = reconnect
  }

  /** True while a watched command is pending. */
  get isWatching(): boolean {
    return this.#pending > 0
  }

  /** Watches a pending command; an error is an answer as well as a reply. */
  watch(answer: Promise<unknown>): void {
    if (this.#pending === 0) this.#silentChecks = 0
    this.#pending += 1
    answer.then(this.#answered, this.#answered)
    this.#timer ??= this.#scope.runInAsyncScope(() => this.#runtime.schedule(this.#check, this.#pause))
  }

  stop(): void {
    this.#timer?.()
  }

  readonly #answered = (): void => {
    this.#pending -= 1
    this.#silentChecks = 0
  }

  readonly #check = (): void => {
    this.#timer = undefined
    if (this.#pending === 0) return
    this.#timer = this.#runtime.schedule(this.#check, this.#pause)
    this.#silentChecks += 1
    if (this.#silentChecks < CHECKS) return
    this.#silentChecks = 0
    this.#reconnect()
  }
}
