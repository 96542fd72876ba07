import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer, Runtime } from '@cattlegrid/core'

/** So many looks without an answer and it bites. More than one: a process that stood still itself first reads what has arrived meanwhile. */
const LOOKS = 3

/**
 * Watches a connection. One whose peer has vanished looks like one whose peer is busy, and nothing tells the difference but time: so when
 * something was asked and nothing was answered for `patience` ms, it calls `bite`, which opens the connection anew.
 */
export class Watchdog {
  readonly #runtime: Runtime
  readonly #pause: number
  readonly #reconnect: () => void
  /** Belongs to no request: a timer keeps the context that it is made in, and this one makes the next. */
  readonly #scope = new AsyncResource('cattlegrid')
  #open = 0
  #silentLooks = 0
  #timer: CancelTimer | undefined

  constructor(runtime: Runtime, patience: number, reconnect: () => void) {
    this.#runtime = runtime
    // A fleet whose server stood still for a moment shall not come back in one moment.
    this.#pause = (patience * (1 + runtime.random() / 4)) / (LOOKS - 1)
    this.#reconnect = reconnect
  }

  /** Something was asked, and `answer` is what it waits for, an error as well as a reply. */
  watch(answer: Promise<unknown>): void {
    if (this.#open === 0) this.#silentLooks = 0
    this.#open += 1
    answer.then(this.#answered, this.#answered)
    this.#timer ??= this.#scope.runInAsyncScope(() => this.#runtime.schedule(this.#look, this.#pause))
  }

  stop(): void {
    this.#timer?.()
  }

  readonly #answered = (): void => {
    this.#open -= 1
    this.#silentLooks = 0
  }

  readonly #look = (): void => {
    this.#timer = undefined
    if (this.#open === 0) return
    this.#timer = this.#runtime.schedule(this.#look, this.#pause)
    this.#silentLooks += 1
    if (this.#silentLooks < LOOKS) return
    this.#silentLooks = 0
    this.#reconnect()
  }
}
