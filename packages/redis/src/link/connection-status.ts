import { errorMonitor } from 'node:events'
import { type Emitter, listen } from './shared-listeners.ts'

/** How the events of a client tell of its connection. */
export interface FollowedEvents {
  /** The events at which the connection may stand. */
  readonly ready: readonly string[]
  /** True while the connection stands. */
  readonly stands: () => boolean
  /** False: its errors may be those of one server of several. */
  readonly isOne: boolean
}

/** True if the server is a single one: no other of the cluster can answer instead. */
function isNoCluster(error: unknown): boolean {
  return error instanceof Error && error.message.includes('cluster support disabled')
}

/** Whether a connection has stood once, and what its last error was. */
export class ConnectionStatus {
  #error: unknown
  #endStart: (() => void) | undefined
  #starting: Promise<void> | undefined
  readonly #readyListeners = new Set<() => void>()

  constructor() {
    this.#starting = new Promise((resolve) => (this.#endStart = resolve))
  }

  /** Resolves once the connection stands for the first time, or has failed. Undefined from then on. */
  get starting(): Promise<void> | undefined {
    return this.#starting
  }

  /** Why there is no connection. Undefined while there is one, or if the client does not say. */
  get error(): unknown {
    return this.#error
  }

  /** The connection stands. */
  ready(): void {
    this.#error = undefined
    this.#end()
    const listeners = [...this.#readyListeners]
    this.#readyListeners.clear()
    for (const listener of listeners) listener()
  }

  /** Calls `listener` when the connection stands the next time. Returns a function that cancels this. */
  onceReady(listener: () => void): () => void {
    this.#readyListeners.add(listener)
    return () => void this.#readyListeners.delete(listener)
  }

  /** The connection could not be made, or has broken; the start is over. */
  failed(error: unknown): void {
    this.#error = error
    this.#end()
  }

  /** One of several servers could not be reached; the others may be. */
  note(error: unknown): void {
    this.#error = error
  }

  /**
   * Follows a user's client. Its `error` event stays unhandled where the user does not handle it. Returns a
   * function that ends this.
   */
  follow(client: Emitter, { ready, isOne, stands }: FollowedEvents): () => void {
    const check = (): void => void (stands() && this.ready())
    const failed = (error: unknown): void => (isOne || isNoCluster(error) ? this.failed(error) : this.note(error))
    check()
    const removals = [...ready.map((event) => listen(client, event, check)), listen(client, errorMonitor, failed)]
    return () => {
      for (const remove of removals) remove()
    }
  }

  #end(): void {
    this.#starting = undefined
    this.#endStart?.()
  }
}
