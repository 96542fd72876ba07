import type { Codec } from '../../codec.ts'
import type { NewEntry } from '../../entry.ts'
import type {
  Lease,
  Acquire,
  AcquireRequest,
  Away,
  Cleared,
  Commit,
  Done,
  Ending,
  Inspection,
  Notice,
  Put,
  Released,
  Renewed,
  Store,
  TagsFallen,
} from '../store.ts'
import type { Runtime } from '../../runtime.ts'
import { Breaker } from './circuit-breaker.ts'
import { Deadline } from './deadline.ts'
import { ForwardingStore, type OnRead } from './forwarding-store.ts'

/** What goes on behind its callers' backs may take longer. */
const BEHIND = 4
/** `clear` goes through every key. */
const EVERY_KEY = 120

/** What every step is told while the store is left alone: made once, since an error with its stack costs more than the answer. */
const RESTING: Away = { kind: 'away', why: 'breaker', cause: new Error('The store has stopped answering') }

/** A store of which every answer comes in time, if only as `away`, and which is left alone while it gives none. `timeout` in ms. */
export function guardedStore(store: Store, runtime: Runtime, timeout: number): Store {
  return new GuardedStore(store, runtime, timeout)
}

interface Patience {
  /** How many time-outs long the step may take. */
  readonly times?: number
  /** What its call has spent already, ms. */
  readonly spent?: number | undefined
}

class GuardedStore extends ForwardingStore {
  readonly #deadline: Deadline
  readonly #breaker: Breaker
  readonly #listeners = new Set<(notice: Notice) => void>()

  constructor(inner: Store, runtime: Runtime, timeout: number) {
    super(inner)
    // Whether the store answers that question is no news: it is asked once nothing else is.
    const signs = new Deadline(runtime, timeout)
    const tell = (kind: 'away' | 'back'): void => {
      for (const listener of this.#listeners) listener({ kind })
    }
    this.#breaker = new Breaker(runtime, timeout, () => signs.within(() => inner.ping()), tell)
    this.#deadline = new Deadline(runtime, timeout, this.#breaker)
  }

  override readWithCallback(key: string, codec: Codec, hear: OnRead): void {
    if (this.#breaker.open) hear(RESTING)
    else super.readWithCallback(key, codec, this.#deadline.limited(hear))
  }

  override async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    let granting: Promise<Acquire> | undefined
    const answer = await this.#ask(() => (granting = this.inner.acquire(key, request)), { spent: request.spent })
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#giveBack(granting)
    return answer
  }

  override renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.#ask(() => this.inner.renew(lease, duration), { times: BEHIND })
  }

  override commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    return this.#ask(() => this.inner.commit(lease, entry, codec), { times: BEHIND })
  }

  override release(lease: Lease, ending: Ending): Promise<Released> {
    return this.#ask(() => this.inner.release(lease, ending), { times: BEHIND })
  }

  override put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    return this.#ask(() => this.inner.put(key, entry, codec))
  }

  override invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#ask(() => this.inner.invalidate(key, how, holdOff))
  }

  override invalidateTags(tags: readonly string[]): Promise<TagsFallen> {
    return this.#ask(() => this.inner.invalidateTags(tags))
  }

  override clear(): Promise<Cleared> {
    return this.#ask(() => this.inner.clear(), { times: EVERY_KEY })
  }

  override inspect(key: string): Promise<Inspection | Away> {
    return this.#ask(() => this.inner.inspect(key))
  }

  override ping(): Promise<Done> {
    return this.#ask(() => this.inner.ping())
  }

  override watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    const unwatch = this.inner.watch((notice) => {
      // Its other connection is there again.
      if (notice.kind === 'connected') this.#breaker.hint()
      listener(notice)
    })
    return () => {
      this.#listeners.delete(listener)
      unwatch()
    }
  }

  override close(): Promise<void> {
    this.#breaker.end()
    return this.inner.close()
  }

  #ask<T extends { readonly kind: string }>(step: () => Promise<T>, patience: Patience = {}): Promise<T | Away> {
    if (this.#breaker.open) return Promise.resolve(RESTING)
    return this.#deadline.within(step, patience.times, patience.spent)
  }

  /** A grant that comes too late: its load already runs without it, and nobody else would ever end it. */
  async #giveBack(granting: Promise<Acquire> | undefined): Promise<void> {
    try {
      const answer = await granting
      if (answer?.kind === 'lead') await this.inner.release(answer.lease, { kind: 'handover' })
    } catch {
      // It never came.
    }
  }
}
