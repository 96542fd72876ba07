import type { ServerResponse } from 'node:http'
import { queueOwnMicrotask } from '../../microtask.ts'
import type { Departure } from './departure.ts'
import type { Recording } from '../../recorder/recording.ts'

/**
 * The response of a handler whose client left before the head was out, while others wait for the answer. To
 * Node it is closed; to streams it looks open as long as the recording keeps bytes, because `stream.pipeline`
 * and its like refuse a closed one. Code of the handler that looks itself gets the truth, and its response is
 * not kept.
 */
export class DetachedResponse {
  readonly #res: ServerResponse
  readonly #recording: Recording
  /** The listeners that Node has notified of the disconnect: everything outside the handler is among them. */
  readonly #notified: ReadonlySet<unknown>
  #over = false

  constructor(res: ServerResponse, recording: Recording, departure: Departure) {
    this.#res = res
    this.#recording = recording
    this.#notified = new Set([...res.rawListeners('finish'), ...res.rawListeners('close')])
    const isClosed = (): boolean => departure.isShownBy(isClosed) || !this.open
    const isDestroyed = (): boolean => departure.isShownBy(isDestroyed) || !this.open
    Object.defineProperties(res, {
      closed: { configurable: true, get: isClosed },
      destroyed: {
        configurable: true,
        get: isDestroyed,
        // By Node's own `destroy`.
        set: () => {
          this.onDestroy()
        },
      },
    })
    // A stream that is still being written must not wait for ever for a response that takes no more.
    void recording.done.then(() => this.#notify('close'))
  }

  get open(): boolean {
    return this.#recording.copying
  }

  /**
   * The handler has destroyed the response: as its client has left, that is no failure. No connection is left
   * whose end would show it.
   */
  onDestroy(): void {
    this.#recording.abort('disconnect')
  }

  /** The handler has ended its answer. */
  finish(): void {
    this.#notify('finish', 'close')
  }

  /** Node emits neither event for a connection that is gone, and a handler may wait for one. */
  #notify(...events: readonly string[]): void {
    if (this.#over) return
    this.#over = true
    queueOwnMicrotask(() => {
      for (const event of events)
        for (const listener of this.#res.rawListeners(event))
          if (!this.#notified.has(listener)) Reflect.apply(listener, this.#res, [])
    })
  }
}

/** Drops a chunk: its callback still comes, as after a real write. */
export function discardChunk(args: readonly unknown[]): true {
  const callback = args.find((argument) => typeof argument === 'function')
  if (callback !== undefined) queueOwnMicrotask(() => void Reflect.apply(callback, undefined, []))
  return true
}
