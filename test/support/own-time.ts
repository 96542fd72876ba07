import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Runtime, systemRuntime } from '@cattlegrid/core/extend'

/** How long one turn of the event loop counts at most, ms. */
const LONGEST_TURN = 100
const BEAT = 10

/**
 * Time as this process has it: on a machine that gives it no processor for 5 s, these 5 s count as 100 ms. What
 * a cache measures is then its own work and its loads', however busy the machine is.
 */
export class OwnTime {
  readonly runtime: Runtime = { ...systemRuntime, elapsed: () => this.#elapsed() }
  #passed = 0
  #beatAt = performance.now()
  readonly #beats = setInterval(() => {
    this.#passed = this.#elapsed()
    this.#beatAt = performance.now()
  }, BEAT)

  async sleep<T>(time: number, value: T, signal?: AbortSignal): Promise<T> {
    const end = this.#elapsed() + time
    while (this.#elapsed() < end) await sleep(BEAT, undefined, signal && { signal })
    return value
  }

  stop(): void {
    clearInterval(this.#beats)
  }

  #elapsed(): number {
    return this.#passed + Math.min(performance.now() - this.#beatAt, LONGEST_TURN)
  }
}
