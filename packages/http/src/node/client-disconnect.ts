import type { CallerSignal } from '@cattlegrid/core'
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import { ownListener } from './capture/close-listeners.ts'
import { unwatched } from './capture/state-reads.ts'

/**
 * Signals that a client disconnected before its response was complete. Every waiting request needs one, and
 * an `AbortController` costs more than the rest of the wait.
 */
export class ClientDisconnect implements CallerSignal {
  readonly #listeners = new Set<() => void>()
  #reason: Error | undefined
  #ignored = false

  constructor(res: ServerResponse) {
    const check = (): void => {
      if (!this.#ignored && isClosed(res) && !isComplete(res)) this.#abort()
    }
    // Outer middleware that awaits something passes on a request whose client may have left meanwhile:
    // `close` does not come again.
    check()
    if (!this.aborted) res.once('close', ownListener(check))
  }

  /** The request has its response: nothing waits any more that a disconnect would end. */
  ignore(): void {
    this.#ignored = true
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

/**
 * True if no byte can reach the client any more. False while an outer recording shows the response as open,
 * to complete it for that layer's waiters.
 */
function isClosed(res: ServerResponse): boolean {
  return unwatched(() => (res as Partial<Pick<ServerResponse, 'closed'>>).closed ?? isStreamClosed(res))
}

/**
 * HTTP/2 responses lack a `closed` of their own. Those of HTTP/1 are not asked: they have no `stream`, and V8
 * would search for it anew on each response of Express.
 */
function isStreamClosed(res: ServerResponse): boolean {
  const { destroyed, stream } = res as Partial<Pick<ServerResponse, 'destroyed'>> &
    Partial<Pick<Http2ServerResponse, 'stream'>>
  return destroyed === true || stream?.closed === true
}

/** A reset stream of HTTP/2 is `writableFinished`, too. */
function isComplete({ writableEnded, writableFinished }: ServerResponse): boolean {
  return writableEnded && writableFinished
}
