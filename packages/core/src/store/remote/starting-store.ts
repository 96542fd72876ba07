import type { Codec } from '../../codec/codec.ts'
import type { Store } from '../store.ts'
import { type OnRead, readFrom } from './callback-store.ts'
import type { Deadline } from './deadline.ts'
import { ForwardingStore } from './forwarding-store.ts'

/** The part of a time-out for which steps wait: less than all of it, so that it is the wait that ends first, and the breaker counts nothing. */
const PATIENCE = 0.9

/**
 * A store that connects for the first time is slow, not away: steps wait until its connection stands or has failed, the first of them for nearly the
 * whole time-out. Then none waits any more, because a store that cannot be reached must not hold up every call.
 */
export class StartingStore extends ForwardingStore<Store> {
  readonly #deadline: Deadline
  #waiting: Promise<unknown> | undefined
  #over = false

  constructor(inner: Store, deadline: Deadline) {
    super(inner)
    this.#deadline = deadline
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead): void {
    readFrom(this, key, codec, onRead)
  }

  override read(...args: Parameters<Store['read']>): ReturnType<Store['read']> {
    return this.#started(() => this.inner.read(...args))
  }

  override acquire(...args: Parameters<Store['acquire']>): ReturnType<Store['acquire']> {
    return this.#started(() => this.inner.acquire(...args))
  }

  override renew(...args: Parameters<Store['renew']>): ReturnType<Store['renew']> {
    return this.#started(() => this.inner.renew(...args))
  }

  override commit(...args: Parameters<Store['commit']>): ReturnType<Store['commit']> {
    return this.#started(() => this.inner.commit(...args))
  }

  override release(...args: Parameters<Store['release']>): ReturnType<Store['release']> {
    return this.#started(() => this.inner.release(...args))
  }

  override put(...args: Parameters<Store['put']>): ReturnType<Store['put']> {
    return this.#started(() => this.inner.put(...args))
  }

  override invalidate(...args: Parameters<Store['invalidate']>): ReturnType<Store['invalidate']> {
    return this.#started(() => this.inner.invalidate(...args))
  }

  override invalidateTags(...args: Parameters<Store['invalidateTags']>): ReturnType<Store['invalidateTags']> {
    return this.#started(() => this.inner.invalidateTags(...args))
  }

  override tagNumbers(...args: Parameters<Store['tagNumbers']>): ReturnType<Store['tagNumbers']> {
    return this.#started(() => this.inner.tagNumbers(...args))
  }

  override permitRefresh(...args: Parameters<Store['permitRefresh']>): ReturnType<Store['permitRefresh']> {
    return this.#started(() => this.inner.permitRefresh(...args))
  }

  override endRefresh(...args: Parameters<Store['endRefresh']>): ReturnType<Store['endRefresh']> {
    return this.#started(() => this.inner.endRefresh(...args))
  }

  override clear(...args: Parameters<Store['clear']>): ReturnType<Store['clear']> {
    return this.#started(() => this.inner.clear(...args))
  }

  override inspect(...args: Parameters<Store['inspect']>): ReturnType<Store['inspect']> {
    return this.#started(() => this.inner.inspect(...args))
  }

  override ping(): ReturnType<Store['ping']> {
    return this.#started(() => this.inner.ping())
  }

  #started<T>(step: () => Promise<T>): Promise<T> {
    const starting = this.#over ? undefined : this.inner.starting
    if (starting === undefined) return step()
    return this.#wait(starting).then(step)
  }

  /** All steps end their wait together: none is sent later than its own time-out allows. */
  #wait(starting: Promise<void>): Promise<unknown> {
    this.#waiting ??= this.#deadline
      .within(() => starting.then(() => ({ kind: 'started' }) as const), { limit: PATIENCE })
      .then(() => (this.#over = true))
    return this.#waiting
  }
}
