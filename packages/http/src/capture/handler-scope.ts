import { AsyncLocalStorage } from 'node:async_hooks'

/** Whose code runs. A context may outlive its request, and so holds nothing of it. */
interface Running {
  readonly scope: HandlerScope
  readonly side: 'inside' | 'outside'
  readonly around: Running | undefined
}

const storage = new AsyncLocalStorage<Running | undefined>()

/** Tells the code of a handler from that of the layers outside its cache, also in what either of them does later. */
export class HandlerScope {
  readonly #around = storage.getStore()

  runInside<T>(handler: () => T): T {
    return storage.run({ scope: this, side: 'inside', around: this.#around }, handler)
  }

  /** Runs a call of an outer layer, which the handler may have caused. */
  runOutside<T>(call: () => T): T {
    return storage.run({ scope: this, side: 'outside', around: this.#around }, call)
  }

  /** undefined: unknown, as in a timer that an outer layer has set before, or in the callback of a driver that keeps no context. */
  get side(): Running['side'] | undefined {
    let running = storage.getStore()
    while (running !== undefined && running.scope !== this) running = running.around
    return running?.side
  }
}
