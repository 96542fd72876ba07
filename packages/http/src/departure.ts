import type { CallerSignal } from '@cattlegrid/core'
import type { ServerResponse } from 'node:http'

/**
 * That a client has left before its answer was whole, as a signal. Every request of a herd needs one, and an `AbortController` costs more than
 * the whole wait: its signal is an event target.
 */
export class Departure implements CallerSignal {
  readonly #listeners = new Set<() => void>()
  #aborted = false

  constructor(res: ServerResponse) {
    res.once('close', () => {
      if (!res.writableFinished) this.#leave()
    })
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): Error {
    return new DOMException('The client has left', 'AbortError')
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.reason
  }

  addEventListener(_type: 'abort', onAbort: () => void): void {
    this.#listeners.add(onAbort)
  }

  removeEventListener(_type: 'abort', onAbort: () => void): void {
    this.#listeners.delete(onAbort)
  }

  #leave(): void {
    this.#aborted = true
    for (const onAbort of this.#listeners) onAbort()
    this.#listeners.clear()
  }
}
