import { currentLoadScope, type LoadedKey, type LoadScope, recordWait } from './reentrancy.ts'

/** A loader that awaits a call. */
interface Awaiter {
  readonly scope: LoadScope
  refuse(error: unknown): void
}

/**
 * The loaders that await one call from inside a load, and the keys for which that call waits: each waits from
 * the moment at which there are both.
 */
export class Awaiters {
  readonly #waits = new Set<LoadedKey>()
  readonly #awaiters = new Set<Awaiter>()

  /** The call waits for a key from now on, until the returned function is called. */
  beginWait(wait: LoadedKey): () => void {
    this.#waits.add(wait)
    for (const awaiter of this.#awaiters) this.#record(awaiter, wait)
    return () => {
      this.#waits.delete(wait)
      for (const { scope } of this.#awaiters) scope.waits?.delete(wait)
    }
  }

  /** The loader of `scope` awaits the call. `refuse` is called when the wait would never end. */
  add(scope: LoadScope, refuse: Awaiter['refuse']): void {
    const awaiter = { scope, refuse }
    this.#awaiters.add(awaiter)
    for (const wait of this.#waits) if (this.#awaiters.has(awaiter)) this.#record(awaiter, wait)
  }

  /** Forgets an awaiter that is refused: it waits for no key of the call. */
  #record(awaiter: Awaiter, wait: LoadedKey): void {
    try {
      recordWait(awaiter.scope, wait)
    } catch (error) {
      this.#awaiters.delete(awaiter)
      for (const recorded of this.#waits) awaiter.scope.waits?.delete(recorded)
      awaiter.refuse(error)
    }
  }
}

/** Of a call from inside a load; undefined for any other call, which pays nothing. */
export function newAwaiters(): Awaiters | undefined {
  return currentLoadScope() && new Awaiters()
}

/** The promise of a call: inside a load it tells `awaiters` who awaits it. */
export function awaitedCall<T>(answer: Promise<T>, awaiters: Awaiters | undefined): Promise<T> {
  if (awaiters === undefined) return answer
  return new Awaited(
    () => answer,
    (scope, refuse) => awaiters.add(scope, refuse),
  )
}

/**
 * A promise that learns who awaits it: `await` and `Promise.all` call an overridden `then`. `source` is asked
 * only then. Inside a load it calls `onAwait` with the scope of that load, and with what refuses a wait that
 * would never end.
 */
export class Awaited<T> extends Promise<T> {
  readonly #source: () => Promise<T>
  readonly #onAwait: (scope: LoadScope, refuse: Awaiter['refuse']) => void

  constructor(source: () => Promise<T>, onAwait: (scope: LoadScope, refuse: Awaiter['refuse']) => void) {
    super(() => undefined)
    this.#source = source
    this.#onAwait = onAwait
  }

  /** A derived promise is a plain one. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  override then<R = T, E = never>(
    onFulfilled?: ((value: T) => R | PromiseLike<R>) | null,
    onRejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    const source = this.#source()
    // As `catch` does: whoever handles only the error does not wait for the value.
    if (typeof onFulfilled !== 'function') {
      const handled = source.then<R, E>(onFulfilled, onRejected)
      return new Awaited<R | E>(() => handled, this.#onAwait)
    }
    const scope = currentLoadScope()
    if (scope === undefined) return source.then(onFulfilled, onRejected)
    const awaited = new Promise<T>((resolve, reject) => {
      void source.then(resolve, reject)
      this.#onAwait(scope, reject)
    })
    return awaited.then(onFulfilled, onRejected)
  }
}
