import type { CallerSignal } from '@cattlegrid/core'
import type { ServerResponse } from 'node:http'

/**
 * Signals that a client disconnected before its response was complete. Every waiting request needs one, and an `AbortController` costs more than
 * the rest of the wait.
 */
export class ClientDisconnect implements CallerSignal {
  readonly #listeners = new Set<() => void>()
  #reason: Error | undefined

  constructor(res: ServerResponse) {
    res.once('close', () => {
      if (!res.writableFinished) this.#abort()
    })
  }

  get aborted(): boolean {
    return this.#reason !== undefined
  }

  get reason(): Error | undefined {
    return this.#reason
  }

  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  addEventListener(_type: 'abort', onAbort: () => void): void {
    this.#listeners.add(onAbort)
  }

  removeEventListener(_type: 'abort', onAbort: () => void): void {
    this.#listeners.delete(onAbort)
  }

  #abort(): void {
    this.#reason = new DOMException('The client has disconnected', 'AbortError')
    for (const onAbort of this.#listeners) onAbort()
    this.#listeners.clear()
  }
}
