import { handlerScopes } from '@cattlegrid/core/extend'

/** Whose code runs. A context may outlive its request, and so holds nothing of it. */
interface Running {
  readonly scope: HandlerScope
  readonly side: 'inside' | 'outside'
  readonly around: Running | undefined
}

/**
 * Tells the code of a handler from that of the layers outside its cache, also in what either of them does
 * later, until it is closed.
 */
export class HandlerScope {
  readonly #around = current()
  #closed = false
  /** Calls of outer layers that are running. */
  #outsideCalls = 0

  constructor() {
    handlerScopes.open()
  }

  runInside<T>(handler: () => T): T {
    return this.#run('inside', handler)
  }

  /** Runs a call of an outer layer, which the handler may have caused. */
  runOutside<T>(call: () => T): T {
    this.#outsideCalls += 1
    try {
      return this.#run('outside', call)
    } finally {
      this.#outsideCalls -= 1
    }
  }

  get closed(): boolean {
    return this.#closed
  }

  /**
   * undefined: unknown, as in a timer that an outer layer has set before, in the callback of a driver that
   * keeps no context, or after the close, unless a call of an outer layer is running.
   */
  get side(): Running['side'] | undefined {
    if (this.#closed) return this.#outsideCalls > 0 ? 'outside' : undefined
    let running = current()
    while (running !== undefined && running.scope !== this) running = running.around
    return running?.side
  }

  /** Call it once, when the response has closed. */
  close(): void {
    this.#closed = true
    handlerScopes.close()
  }

  #run<T>(side: Running['side'], code: () => T): T {
    return this.#closed
      ? code()
      : handlerScopes.enter({ scope: this, side, around: this.#around } satisfies Running, code)
  }
}

function current(): Running | undefined {
  return handlerScopes.current() as Running | undefined
}
