import type { Codec } from '../codec.ts'
import type { Entry, NewEntry, Version } from '../entry.ts'
import type { Lease } from '../lease/lease.ts'
import type { Runtime } from '../runtime.ts'
import { Deadline } from './deadline.ts'
import type {
  Acquire,
  AcquireRequest,
  Away,
  Commit,
  Done,
  Ending,
  Inspection,
  Notice,
  Read,
  Refused,
  Store,
  Unkeepable,
} from './store.ts'

/** What goes on behind its callers' backs may take longer. */
const BEHIND = 4
/** `clear` goes through every key. */
const EVERY_KEY = 120

/** A store of which every answer comes in time, if only as `away`. `timeout` in ms. */
export function guardedStore(store: Store, runtime: Runtime, timeout: number): Store {
  return new GuardedStore(store, new Deadline(runtime, timeout))
}

class GuardedStore implements Store {
  readonly shared: boolean
  readonly #store: Store
  readonly #deadline: Deadline

  constructor(store: Store, deadline: Deadline) {
    this.shared = store.shared
    this.#store = store
    this.#deadline = deadline
  }

  peek(key: string): Entry | undefined {
    return this.#store.peek(key)
  }

  read(key: string, codec: Codec): Promise<Read> {
    return this.#deadline.within(this.#store.read(key, codec), 1)
  }

  async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    const granting = this.#store.acquire(key, request)
    const answer = await this.#deadline.within(granting, 1)
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#giveBack(granting)
    return answer
  }

  renew(lease: Lease, duration: number): Promise<{ readonly kind: 'renewed' } | Refused | Away> {
    return this.#deadline.within(this.#store.renew(lease, duration), BEHIND)
  }

  commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    return this.#deadline.within(this.#store.commit(lease, entry, codec), BEHIND)
  }

  release(lease: Lease, ending: Ending): Promise<{ readonly kind: 'released' } | Refused | Away> {
    return this.#deadline.within(this.#store.release(lease, ending), BEHIND)
  }

  put(
    key: string,
    entry: NewEntry,
    codec: Codec,
  ): Promise<{ readonly kind: 'stored'; readonly version: Version } | Unkeepable | Away> {
    return this.#deadline.within(this.#store.put(key, entry, codec), 1)
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#deadline.within(this.#store.invalidate(key, how, holdOff), 1)
  }

  invalidateTags(tags: readonly string[]): Promise<{ readonly kind: 'done'; readonly tagSeq: number } | Away> {
    return this.#deadline.within(this.#store.invalidateTags(tags), 1)
  }

  clear(): Promise<{ readonly kind: 'cleared'; readonly entries: number } | Away> {
    return this.#deadline.within(this.#store.clear(), EVERY_KEY)
  }

  inspect(key: string): Promise<Inspection | Away> {
    return this.#deadline.within(this.#store.inspect(key), 1)
  }

  watch(listener: (notice: Notice) => void): () => void {
    return this.#store.watch(listener)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** A grant that comes too late: its load already runs without it, and nobody else would ever end it. */
  async #giveBack(granting: Promise<Acquire>): Promise<void> {
    try {
      const answer = await granting
      if (answer.kind === 'lead') await this.#store.release(answer.lease, { kind: 'handover' })
    } catch {
      // It never came.
    }
  }
}
