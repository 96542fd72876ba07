import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { replaceMethods } from './response-methods.ts'

/** Decides on a `destroy` of the app; `destroy` does it. */
type OnDestroy = (destroy: () => void) => void

/**
 * Catches each `destroy` by which the app gives up a response that is the cache's to send: that of the
 * response, and that of its connection as `req.socket` and `res.socket` show it. Express' final handler
 * destroys `req.socket` of a response whose head is sent, and by then another request may have the
 * connection. Node itself sees the sockets themselves.
 */
export class DestroyGuard {
  readonly #onDestroy: OnDestroy
  /** Request and response show the same one. */
  readonly #guardedSockets = new WeakMap<Socket, Socket>()
  #enabled = true

  constructor(res: ServerResponse, onDestroy: OnDestroy) {
    this.#onDestroy = onDestroy
    const original = replaceMethods(res, {
      destroy: (...args) => {
        this.#destroy(() => void original('destroy', args))
        return res
      },
    })
    for (const message of [res.req, res]) this.#guardSocketOf(message)
  }

  enable(): void {
    this.#enabled = true
  }

  /** From now on, each `destroy` takes effect, and the app sees the sockets themselves. */
  disable(): void {
    this.#enabled = false
  }

  #destroy(destroy: () => void): void {
    if (this.#enabled) this.#onDestroy(destroy)
    else destroy()
  }

  /**
   * Node takes the socket from a response that is finished; a response over HTTP/2 has none once its stream
   * is closed.
   */
  #guardSocketOf(message: { socket: Socket | null | undefined }): void {
    let { socket } = message
    Object.defineProperty(message, 'socket', {
      configurable: true,
      enumerable: true,
      get: () => (this.#enabled ? this.#guardedOf(socket) : socket),
      set: (value: Socket | null | undefined) => {
        socket = value
      },
    })
  }

  #guardedOf(socket: Socket | null | undefined): Socket | null | undefined {
    if (socket === null || socket === undefined) return socket
    let guarded = this.#guardedSockets.get(socket)
    if (guarded === undefined) this.#guardedSockets.set(socket, (guarded = this.#makeGuarded(socket)))
    return guarded
  }

  /** Methods of the socket run on the socket itself: what Node destroys within them is destroyed. */
  #makeGuarded(socket: Socket): Socket {
    const methods = new Map<unknown, (...args: unknown[]) => unknown>()
    const guarded: Socket = new Proxy(socket, {
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
            return guarded
          }
        : (...args) => {
            const result: unknown = Reflect.apply(method, socket, args)
            return result === socket ? guarded : result
          }
    return guarded
  }
}
