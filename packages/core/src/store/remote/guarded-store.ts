import type { Codec } from '../../codec/codec.ts'
import type { NewEntry } from '../../entry.ts'
import type { RefreshRequest } from '../../refresh-quota.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import {
  type Acquire,
  type AcquireRequest,
  answerOf,
  type Away,
  type Cleared,
  type Commit,
  type Done,
  type Ending,
  type Inspection,
  type Lease,
  type Notice,
  type Put,
  type RefreshPermitted,
  type Released,
  type Renewed,
  type TagNumbersRead,
  type TagsInvalidated,
} from '../store.ts'
import type { CallbackStore, OnRead } from './callback-store.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { Deadline, type TimedStep } from './deadline.ts'
import { encodedNow } from './encoded-now.ts'
import { ForwardingStore } from './forwarding-store.ts'
import { type Lane, StepQueue } from './step-queue.ts'

/** A step that ends or renews what a load holds. It has a longer time limit, because an early end would leave the lease or the permit behind. */
const IN_BACKGROUND: StepLimits = { limit: 4, lane: 'ending' }
/** The time limit of `clear`, which visits every key, in time-outs. */
const FOR_CLEAR = 120

/** The answer of every step while the breaker is open. Made once: an error with its stack costs more than the answer. */
const BREAKER_OPEN: Away = { kind: 'away', why: 'breaker', cause: new Error('The store has stopped answering') }

/**
 * A store whose every step ends in time, if only as `away`, and that is not asked while it does not answer. A step has `timeout` ms from the moment at
 * which it is sent; in a burst it waits for its turn before, for at most `patience` ms.
 */
export function guardedStore(store: CallbackStore, runtime: Runtime, timeout: number, patience: number): CallbackStore {
  return new GuardedStore(store, runtime, timeout, patience)
}

interface StepLimits {
  /** The time limit, in time-outs. */
  readonly limit?: number
  /** The part of it that the call has already used, in ticks. */
  readonly spent?: number
  readonly lane?: Lane
}

class GuardedStore extends ForwardingStore<CallbackStore> {
  readonly #deadline: Deadline
  /** The time limit of the callers of a step that goes on in the background: no step of its own. */
  readonly #callerDeadline: Deadline
  readonly #breaker: CircuitBreaker
  readonly #queue: StepQueue
  readonly #listeners = new Set<(notice: Notice) => void>()

  constructor(inner: CallbackStore, runtime: Runtime, timeout: number, patience: number) {
    super(inner)
    // A deadline of its own: a ping is sent while the breaker is open, and is no step that the breaker counts.
    const pingDeadline = new Deadline(runtime, timeout)
    this.#callerDeadline = new Deadline(runtime, timeout)
    this.#queue = new StepQueue(runtime, patience)
    const notify = (kind: 'away' | 'back'): void => {
      if (kind === 'away') this.#queue.refuseAll(BREAKER_OPEN)
      for (const listener of this.#listeners) listener({ kind })
    }
    this.#breaker = new CircuitBreaker(runtime, timeout, () => pingDeadline.within(() => inner.ping()), notify)
    this.#deadline = new Deadline(runtime, timeout, {
      answered: (took) => {
        this.#breaker.answered()
        this.#queue.leave(took)
      },
      timedOut: () => {
        this.#breaker.timedOut()
        // Later: steps that time out together open the breaker before another one is sent in their place.
        queueMicrotask(() => this.#queue.leave(1))
      },
    })
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead): void {
    if (this.#breaker.open) onRead(BREAKER_OPEN)
    else if (this.#queue.tryEnter()) this.inner.readWithCallback(key, codec, this.#deadline.withCallback(onRead))
    else this.#readLater(key, codec, onRead)
  }

  override async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    let granting: Promise<Acquire> | undefined
    const spent = this.#spentSince(request.since)
    const answer = await this.#guard(() => (granting = this.inner.acquire(key, request)), { spent })
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#releaseLateGrant(granting)
    return answer
  }

  override renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.#guard(() => this.inner.renew(lease, duration), IN_BACKGROUND)
  }

  override async commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit> {
    let sent = false
    const ownCodec = encodedNow(entry.value, codec)
    const commit = (): Promise<Commit> => {
      sent = true
      const committing = this.inner.commit(lease, entry, ownCodec)
      void this.#callerDeadline
        .within(() => committing)
        .then((answer) => {
          if (answer.kind === 'away' && answer.why === 'deadline') onSlow?.()
        })
      return committing
    }
    const answer = await this.#guard(commit, IN_BACKGROUND)
    if (!sent) this.#giveBack(lease, { kind: 'handover' })
    return answer
  }

  override async release(lease: Lease, ending: Ending): Promise<Released> {
    let sent = false
    const release = (): Promise<Released> => {
      sent = true
      return this.inner.release(lease, ending)
    }
    const answer = await this.#guard(release, IN_BACKGROUND)
    if (!sent) this.#giveBack(lease, ending)
    return answer
  }

  override put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    const ownCodec = encodedNow(entry.value, codec)
    return this.#guard((isOver) => this.inner.put(key, entry, ownCodec, isOver))
  }

  override invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#guard(() => this.inner.invalidate(key, how, holdOff))
  }

  override invalidateTags(tags: readonly string[], how: 'delete' | 'expire'): Promise<TagsInvalidated> {
    return this.#guard(() => this.inner.invalidateTags(tags, how))
  }

  override tagNumbers(tags: readonly string[]): Promise<TagNumbersRead | Away> {
    return this.#guard(() => this.inner.tagNumbers(tags))
  }

  override async permitRefresh(request: RefreshRequest): Promise<RefreshPermitted> {
    let granting: Promise<RefreshPermitted> | undefined
    const answer = await this.#guard(() => (granting = this.inner.permitRefresh(request)))
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#endLatePermit(request, granting)
    return answer
  }

  override endRefresh(request: RefreshRequest, unused: boolean): Promise<Done> {
    return this.#guard(() => this.inner.endRefresh(request, unused), IN_BACKGROUND)
  }

  override clear(): Promise<Cleared> {
    return this.#guard(() => this.inner.clear(), { limit: FOR_CLEAR })
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
    const { limit, spent, lane = 'step' } = limits
    const send = (): Promise<T | Away> => this.#deadline.within(step, limit, spent)
    if (this.#queue.tryEnter()) return send()
    return new Promise((resolve) => this.#queue.wait(lane, () => resolve(send()), resolve))
  }

  /** A function of its own, so that a hit does not allocate what it needs. */
  #readLater(key: string, codec: Codec, onRead: OnRead): void {
    const send = (): void => this.inner.readWithCallback(key, codec, this.#deadline.withCallback(onRead))
    this.#queue.wait('read', send, onRead)
  }

  /** The ticks of a call's time limit that the store has used. A burst is not silence: the time in which steps wait for their turn does not count. */
  #spentSince(moment: number | undefined): number {
    return moment === undefined || this.#queue.waitedSince(moment) ? 0 : this.#deadline.ticksSince(moment)
  }

  /** Hands a lease that nobody uses any more to the store. Neither the open breaker nor a burst stops a release: nothing else would end the lease. */
  #giveBack(lease: Lease, ending: Ending): void {
    void answerOf(() => this.inner.release(lease, ending))
  }

  /** Ends a permit that was granted too late: its refresh has gone on without it. */
  async #endLatePermit(request: RefreshRequest, granting: Promise<RefreshPermitted> | undefined): Promise<void> {
    try {
      const answer = await granting
      if (answer?.kind === 'granted') await this.inner.endRefresh(request, true)
    } catch {
      // The grant never came.
    }
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
