import type { ClientSignal } from '@cattlegrid/http/binding'

/** Signals that the client has left. Its host tells by the request, or by the body of the response. */
export class ClientLeaving implements ClientSignal {
  readonly #listeners = new Set<() => void>()
  #reason: unknown
  #left = false

  get aborted(): boolean {
    return this.#left
  }

  get reason(): unknown {
    return this.#reason
  }

  /** Nothing waits any more: nobody listens. */
  ignore(): void {
    this.#listeners.clear()
  }

  leave(reason: unknown): void {
    if (this.#left) return
    this.#left = true
    this.#reason = reason ?? new DOMException('The client has disconnected', 'AbortError')
    for (const onAbort of this.#listeners) onAbort()
    this.#listeners.clear()
  }

  throwIfAborted(): void {
    if (this.#left) throw this.#reason
  }

  addEventListener(_type: 'abort', onAbort: () => void): void {
    this.#listeners.add(onAbort)
  }

  removeEventListener(_type: 'abort', onAbort: () => void): void {
    this.#listeners.delete(onAbort)
  }
}
