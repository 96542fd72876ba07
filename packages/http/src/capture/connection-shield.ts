import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { replaceMethods } from './response-methods.ts'

/** Decides on a `destroy` of the app; `destroy` does it. */
type OnDestroy = (destroy: () => void) => void

/**
 * Catches each `destroy` by which the app gives up a response that is the cache's to send: that of the response, and that of its connection as `req.socket` and
 * `res.socket` show it. Express' final handler destroys `req.socket` of a response whose head is sent, and by then another request may have the connection.
 * Node itself does not see the shield.
 */
export class ConnectionShield {
  readonly #onDestroy: OnDestroy
  /** Request and response show the same one. */
  readonly #shielded = new WeakMap<Socket, Socket>()
  #raised = true

  constructor(res: ServerResponse, onDestroy: OnDestroy) {
    this.#onDestroy = onDestroy
    const original = replaceMethods(res, {
      destroy: (args) => {
        this.#destroy(() => void original('destroy', args))
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

  #destroy(destroy: () => void): void {
    if (this.#raised) this.#onDestroy(destroy)
    else destroy()
  }

  /** Node takes the socket from a response that is finished; a response over HTTP/2 has none once its stream is closed. */
  #shieldSocketOf(message: { socket: Socket | null | undefined }): void {
    let { socket } = message
    Object.defineProperty(message, 'socket', {
      configurable: true,
      enumerable: true,
      get: () => (this.#raised ? this.#shieldOf(socket) : socket),
      set: (value: Socket | null | undefined) => {
        socket = value
      },
    })
  }

  #shieldOf(socket: Socket | null | undefined): Socket | null | undefined {
    if (socket === null || socket === undefined) return socket
    let shielded = this.#shielded.get(socket)
    if (shielded === undefined) this.#shielded.set(socket, (shielded = this.#shield(socket)))
    return shielded
  }

  /** Methods of the socket run on the socket itself: what Node destroys within them is destroyed. */
  #shield(socket: Socket): Socket {
    const methods = new Map<unknown, (...args: unknown[]) => unknown>()
    const shielded: Socket = new Proxy(socket, {
      get: (_, name) => {
        const value: unknown = Reflect.get(socket, name)
        if (typeof value !== 'function' || name === 'constructor') return value
        let method = methods.get(value)
        if (method === undefined) methods.set(value, (method = methodOf(name, value)))
        return method
      },
      set: (_, name, value) => Reflect.set(socket, name, value),
    })
    const methodOf = (name: string | symbol, method: Function): ((...args: unknown[]) => unknown) =>
      name === 'destroy'
        ? (...args) => {
            this.#destroy(() => void Reflect.apply(method, socket, args))
            return shielded
          }
        : (...args) => {
            const result: unknown = Reflect.apply(method, socket, args)
            return result === socket ? shielded : result
          }
    return shielded
  }
}
