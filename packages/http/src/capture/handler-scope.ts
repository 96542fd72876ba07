import { AsyncLocalStorage } from 'node:async_hooks'

/** Whose code runs. A context may outlive its request, and so holds nothing of it. */
interface Running {
  readonly scope: HandlerScope
  readonly side: 'inside' | 'outside'
  readonly around: Running | undefined
}

const storage = new AsyncLocalStorage<Running | undefined>()
let openScopes = 0

/**
 * Tells the code of a handler from that of the layers outside its cache, also in what either of them does later, until it is closed. The close of
 * the last one disables the storage until the next handler: while it is enabled, Node 20 and 22 track every promise of the process.
 */
export class HandlerScope {
  readonly #around = storage.getStore()
  #closed = false

  constructor() {
    openScopes += 1
  }

  runInside<T>(handler: () => T): T {
    return this.#run('inside', handler)
  }

  /** Runs a call of an outer layer, which the handler may have caused. */
  runOutside<T>(call: () => T): T {
    return this.#run('outside', call)
  }

  get closed(): boolean {
    return this.#closed
  }

  /**
   * undefined: unknown, as in a timer that an outer layer has set before, in the callback of a driver that keeps no context, or after the
   * close.
   */
  get side(): Running['side'] | undefined {
    if (this.#closed) return undefined
    let running = storage.getStore()
    while (running !== undefined && running.scope !== this) running = running.around
    return running?.side
  }

  /** Call it once, when the response has closed. */
  close(): void {
    this.#closed = true
    openScopes -= 1
    if (openScopes === 0) storage.disable()
  }

  #run<T>(side: Running['side'], code: () => T): T {
    return this.#closed ? code() : storage.run({ scope: this, side, around: this.#around }, code)
  }
}
