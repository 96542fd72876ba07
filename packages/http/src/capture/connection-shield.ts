import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { replaceMethods } from './response-methods.ts'

/** Gets each `destroy` that the shield holds back; `again` repeats it. */
type OnDestroy = (again: () => void) => void

/**
 * Holds back each `destroy` by which the app gives up a response that is the cache's to send: that of the response, and that of its connection as `req.socket` and
 * `res.socket` show it. Express' final handler destroys `req.socket` of a response whose head is sent, and by then another request may have the connection.
 * Node itself does not see the shield.
 */
export class ConnectionShield {
  readonly #onDestroy: OnDestroy
  #raised = true

  constructor(res: ServerResponse, onDestroy: OnDestroy) {
    this.#onDestroy = onDestroy
    const original = replaceMethods(res, {
      destroy: (args) => {
        if (!this.#raised) return original('destroy', args)
        this.#onDestroy(() => res.destroy(args[0] as Error | undefined))
        return res
      },
    })
    for (const message of [res.req, res]) this.#shieldSocketOf(message)
  }

  raise(): void {
    this.#raised = true
  }

  /** From now on, each `destroy` takes effect, and the app sees the sockets themselves. */
  lower(): void {
    this.#raised = false
  }

  /** Node takes the socket from a response that is finished; a response over HTTP/2 has none once its stream is closed. */
  #shieldSocketOf(message: { socket: Socket | null | undefined }): void {
    let { socket } = message
    let shielded = this.#shielded(message, socket)
    Object.defineProperty(message, 'socket', {
      configurable: true,
      enumerable: true,
      get: () => (this.#raised ? shielded : socket),
      set: (value: Socket | null | undefined) => {
        socket = value
        shielded = this.#shielded(message, value)
      },
    })
  }

  #shielded<T extends Socket | null | undefined>(message: { readonly socket: T }, socket: T): T | Socket {
    if (socket === null || socket === undefined) return socket
    const shielded: Socket = new Proxy(socket, {
      get: (_, name) => {
        if (name === 'destroy' && this.#raised)
          return (error?: Error) => {
            this.#onDestroy(() => message.socket?.destroy(error))
            return shielded
          }
        const value: unknown = Reflect.get(socket, name)
        return typeof value === 'function' ? (value.bind(socket) as unknown) : value
      },
      set: (_, name, value) => Reflect.set(socket, name, value),
    })
    return shielded
  }
}
