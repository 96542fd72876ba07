import type { Codec } from '../../codec.ts'
import type { NewEntry } from '../../entry.ts'
import type { Runtime } from '../../runtime.ts'
import type {
  Acquire,
  AcquireRequest,
  Away,
  Cleared,
  Commit,
  Done,
  Ending,
  Inspection,
  Lease,
  Notice,
  Put,
  Released,
  Renewed,
  TagsInvalidated,
} from '../store.ts'
import type { CallbackStore, OnRead } from './callback-store.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { Deadline, type TimedStep } from './deadline.ts'
import { ForwardingStore } from './forwarding-store.ts'

/** The time limit of a step that no caller waits for, in time-outs. */
const IN_BACKGROUND = 4
/** The time limit of `clear`, which visits every key, in time-outs. */
const FOR_CLEAR = 120

/** The answer of every step while the breaker is open. Made once: an error with its stack costs more than the answer. */
const BREAKER_OPEN: Away = { kind: 'away', why: 'breaker', cause: new Error('The store has stopped answering') }

/** A store whose every step ends in time, if only as `away`, and that is not asked while it does not answer. `timeout` in ms. */
export function guardedStore(store: CallbackStore, runtime: Runtime, timeout: number): CallbackStore {
  return new GuardedStore(store, runtime, timeout)
}

interface StepLimits {
  /** The time limit, in time-outs. */
  readonly timeouts?: number
  /** The part of it that the call has already used, ms. */
  readonly spent?: number | undefined
}

class GuardedStore extends ForwardingStore<CallbackStore> {
  readonly #deadline: Deadline
  readonly #breaker: CircuitBreaker
  readonly #listeners = new Set<(notice: Notice) => void>()

  constructor(inner: CallbackStore, runtime: Runtime, timeout: number) {
    super(inner)
    // A deadline of its own: a ping is sent while the breaker is open, and is no step that the breaker counts.
    const pingDeadline = new Deadline(runtime, timeout)
    const notify = (kind: 'away' | 'back'): void => {
      for (const listener of this.#listeners) listener({ kind })
    }
    this.#breaker = new CircuitBreaker(runtime, timeout, () => pingDeadline.within(() => inner.ping()), notify)
    this.#deadline = new Deadline(runtime, timeout, this.#breaker)
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead): void {
    if (this.#breaker.open) onRead(BREAKER_OPEN)
    else this.inner.readWithCallback(key, codec, this.#deadline.withCallback(onRead))
  }

  override async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    let granting: Promise<Acquire> | undefined
    const answer = await this.#guard(() => (granting = this.inner.acquire(key, request)), { spent: request.spent })
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#releaseLateGrant(granting)
    return answer
  }

  override renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.#guard(() => this.inner.renew(lease, duration), { timeouts: IN_BACKGROUND })
  }

  override async commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    if (this.#breaker.open) return this.#giveBack(lease, { kind: 'handover' })
    return await this.#guard(() => this.inner.commit(lease, entry, codec), { timeouts: IN_BACKGROUND })
  }

  override async release(lease: Lease, ending: Ending): Promise<Released> {
    if (this.#breaker.open) return this.#giveBack(lease, ending)
    return await this.#guard(() => this.inner.release(lease, ending), { timeouts: IN_BACKGROUND })
  }

  override put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    return this.#guard((isOver) => this.inner.put(key, entry, codec, isOver))
  }

  override invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#guard(() => this.inner.invalidate(key, how, holdOff))
  }

  override invalidateTags(tags: readonly string[]): Promise<TagsInvalidated> {
    return this.#guard(() => this.inner.invalidateTags(tags))
  }

  override clear(): Promise<Cleared> {
    return this.#guard(() => this.inner.clear(), { timeouts: FOR_CLEAR })
  }

  override inspect(key: string): Promise<Inspection | Away> {
    return this.#guard(() => this.inner.inspect(key))
  }

  override ping(): Promise<Done> {
    return this.#guard(() => this.inner.ping())
  }

  override watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    const unwatch = this.inner.watch((notice) => {
      // The connection for notices is back, so the store may answer again.
      if (notice.kind === 'connected') this.#breaker.probe()
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

  #guard<T extends { readonly kind: string }>(step: TimedStep<T>, limits: StepLimits = {}): Promise<T | Away> {
    if (this.#breaker.open) return Promise.resolve(BREAKER_OPEN)
    return this.#deadline.within(step, limits.timeouts, limits.spent)
  }

  /** Hands a lease that nobody uses any more to the store. The open breaker stops no release: nothing else would end the lease. */
  #giveBack(lease: Lease, ending: Ending): Away {
    this.inner.release(lease, ending).catch(() => undefined)
    return BREAKER_OPEN
  }

  /** Releases a lease whose grant came too late: its load already runs without it, and nothing else would ever end it. */
  async #releaseLateGrant(granting: Promise<Acquire> | undefined): Promise<void> {
    try {
      const answer = await granting
      if (answer?.kind === 'lead') await this.inner.release(answer.lease, { kind: 'handover' })
    } catch {
      // The grant never came.
    }
  }
}
