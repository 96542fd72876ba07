import { AsyncLocalStorage } from 'node:async_hooks'
import { ReentrantLoadError } from './errors.ts'

/** Knows which loads the present code runs inside of, so that a load that would wait for itself is refused instead. */
export class Admission {
  readonly #chain = new AsyncLocalStorage<readonly string[]>()

  /** @throws ReentrantLoadError when the caller is, directly or not, the loader of `key`. */
  check(key: string): void {
    const chain = this.#chain.getStore()
    if (chain?.includes(key)) throw new ReentrantLoadError([...chain, key])
  }

  /** Runs a loader inside the chain of its caller; a background load has no caller that waits for it, so it begins a chain. */
  enter<T>(key: string, background: boolean, loader: () => T): T {
    const outer = background ? [] : (this.#chain.getStore() ?? [])
    return this.#chain.run([...outer, key], loader)
  }
}
