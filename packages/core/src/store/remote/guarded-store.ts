import type { Codec } from '../../codec/codec.ts'
import type { NewEntry } from '../../entry.ts'
import type { Board, Post } from '../board.ts'
import type { RefreshRequest } from '../refresh-quota.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import {
  type Acquire,
  answerOf,
  type Away,
  type Cleared,
  type Commit,
  type Done,
  type Inspection,
  type Lease,
  type Put,
  type Read,
  type RefreshPermitted,
  type Released,
  type Renewed,
  type TagNumbersRead,
  type TagsInvalidated,
} from '../answers.ts'
import type { AcquireRequest, Ending, Notice, ReadTerms, Store } from '../store.ts'
import { type CallbackStore, type OnRead, readFrom } from './callback-store.ts'
import { Deadline, type TimedStep } from './deadline.ts'
import { EncodedValue } from './encoded-value.ts'
import { ForwardingStore } from './forwarding-store.ts'
import type { QueuedTerms } from './part-guard.ts'
import { PartGuards } from './part-guards.ts'
import { addUser, removeUser } from './store-users.ts'

/**
 * A step that ends or renews what a load holds. It has a longer time limit, because an early end would leave
 * the lease or the permit behind.
 */
const IN_BACKGROUND: QueuedTerms = { limit: 4, lane: 'ending' }
/** In front of the commits: those of a large batch may take longer than a lease. */
const RENEWAL: QueuedTerms = { limit: 4, lane: 'renewal' }
/**
 * An acquire is not executed later than this, in time-outs. More than one: a lease that is granted a little
 * late is released, and a busy process sends late.
 */
const LATE_ACQUIRE = 4

/**
 * A store whose every step ends in time, if only as `away`, and whose parts are not asked while they do not
 * answer. A step has `timeout` ms from the moment at which it is sent; in a burst it waits for its turn
 * before, for at most `patience` ms.
 *
 * @throws InvalidOptionError for a closed store.
 */
export function guardedStore(store: Store, runtime: Runtime, timeout: number, patience: number): CallbackStore {
  return new GuardedStore(store, runtime, timeout, patience)
}

/**
 * The part of a time-out for which steps wait for the first connection: less than all of it, so that the
 * breaker counts no time-out.
 */
const START = 0.9

/** The innermost decorator: it counts the caches that use the store. */
class GuardedStore extends ForwardingStore<Store> {
  readonly #deadline: Deadline
  readonly #timeout: number
  readonly #guards: PartGuards
  readonly #listeners = new Set<(notice: Notice) => void>()
  #start: Promise<unknown> | undefined
  #isStarted = false

  constructor(inner: Store, runtime: Runtime, timeout: number, patience: number) {
    addUser(inner)
    super(inner)
    this.#deadline = new Deadline(runtime, timeout)
    this.#timeout = timeout
    this.#guards = new PartGuards(inner, {
      runtime,
      deadline: this.#deadline,
      starting: () => this.#starting(),
      timeout,
      patience,
      onChange: (kind, part, cause) => {
        for (const listener of this.#listeners) listener({ kind, part, cause })
      },
    })
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead, terms?: ReadTerms): void {
    const send = (onAnswer: OnRead): void => {
      terms?.onSend?.()
      readFrom(this.inner, key, codec, onAnswer)
    }
    this.#guards.ofKey(key).read<Read>(send, onRead, this.#spentSince(terms?.since))
  }

  override async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    let granting: Promise<Acquire> | undefined
    const spent = this.#spentSince(request.since)
    const acquire = (isAbandoned: () => boolean): Promise<Acquire> =>
      (granting = this.inner.acquire(key, { ...request, within: LATE_ACQUIRE * this.#timeout, isAbandoned }))
    const answer = await this.#guards.ofKey(key).run(acquire, { spent })
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#releaseLateGrant(granting)
    return answer
  }

  override renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.#guards.ofKey(lease.key).run(() => this.inner.renew(lease, duration), RENEWAL)
  }

  override async commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit> {
    let sent = false
    const ownCodec = EncodedValue.of(entry.value, codec)
    const commit = (): Promise<Commit> => {
      sent = true
      const committing = this.inner.commit(lease, entry, ownCodec)
      void this.#deadline
        .within(() => committing)
        .then((answer) => {
          if (answer.kind === 'away' && answer.why === 'deadline') onSlow?.()
        })
      return committing
    }
    const answer = await this.#guards.ofKey(lease.key).run(commit, IN_BACKGROUND, this.#guards.ofEntryTags(entry))
    if (!sent) this.#giveBack(lease, { kind: 'handover' })
    return answer
  }

  override async release(lease: Lease, ending: Ending): Promise<Released> {
    let sent = false
    const release = (): Promise<Released> => {
      sent = true
      return this.inner.release(lease, ending)
    }
    const answer = await this.#guards.ofKey(lease.key).run(release, IN_BACKGROUND)
    if (!sent) this.#giveBack(lease, ending)
    return answer
  }

  override put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    const ownCodec = EncodedValue.of(entry.value, codec)
    const put: TimedStep<Put> = (isOver) => this.inner.put(key, entry, ownCodec, isOver, this.#timeout)
    return this.#guards.ofKey(key).run(put, undefined, this.#guards.ofEntryTags(entry))
  }

  override invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#guards.ofKey(key).run(() => this.inner.invalidate(key, how, holdOff))
  }

  override invalidateTags(
    tags: readonly string[],
    how: 'delete' | 'expire',
    deleteAfter?: number,
  ): Promise<TagsInvalidated> {
    return this.#guards.ofTags().run(() => this.inner.invalidateTags(tags, how, deleteAfter))
  }

  override tagNumbers(tags: readonly string[], since?: number): Promise<TagNumbersRead | Away> {
    return this.#guards.ofTags().run(() => this.inner.tagNumbers(tags), { spent: this.#spentSince(since) })
  }

  override async permitRefresh(request: RefreshRequest): Promise<RefreshPermitted> {
    let granting: Promise<RefreshPermitted> | undefined
    const answer = await this.#guards.ofRefreshBudget().run(() => (granting = this.inner.permitRefresh(request)))
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#endLatePermit(request, granting)
    return answer
  }

  override endRefresh(request: RefreshRequest, unused: boolean): Promise<Done> {
    return this.#guards.ofRefreshBudget().run(() => this.inner.endRefresh(request, unused), IN_BACKGROUND)
  }

  override post(post: Post): Promise<Board | Away> {
    return this.#guards.ofRefreshBudget().run(() => this.inner.post(post))
  }

  /**
   * Takes as long as its steps are answered: it visits every key. The first one that is not answered ends it.
   */
  override async clear(): Promise<Cleared> {
    const { refusal } = this.#guards
    if (refusal !== undefined) return refusal
    await this.#starting()
    let isOver = false
    let isAnswered = true
    const isAbandoned = (): boolean => {
      isAnswered = true
      return isOver
    }
    const clearing = answerOf(() => this.inner.clear(isAbandoned))
    for (;;) {
      isAnswered = false
      const answer = await this.#deadline.within(() => clearing)
      const isSilent = answer.kind === 'away' && answer.why === 'deadline'
      if (isSilent && isAnswered) continue
      isOver = true
      return answer
    }
  }

  override inspect(key: string): Promise<Inspection | Away> {
    return this.#guards.ofKey(key).run(() => this.inner.inspect(key))
  }

  override ping(): Promise<Done> {
    return this.#guards.ofTags().run(() => this.inner.ping())
  }

  override watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    const unwatch = this.inner.watch((notice) => {
      // A connection for notices is back, so an away part may answer again.
      if (notice.kind === 'connected') this.#guards.probe()
      listener(notice)
    })
    return () => {
      this.#listeners.delete(listener)
      unwatch()
    }
  }

  override close(): Promise<void> {
    this.#guards.end()
    return removeUser(this.inner)
  }

  /**
   * A store that connects for the first time is slow, not away: steps wait until its connection stands or has
   * failed, all until the same moment. Then none waits any more, because a store that cannot be reached must
   * not hold up every call.
   */
  #starting(): Promise<unknown> | undefined {
    const starting = this.#isStarted ? undefined : this.inner.starting
    if (starting === undefined) return undefined
    this.#start ??= this.#deadline
      .within(() => starting.then(() => ({ kind: 'started' }) as const), { limit: START })
      .then(() => (this.#isStarted = true))
    return this.#start
  }

  /**
   * The ticks of a call's time limit that the store has used. A burst is not silence: the time in which steps
   * wait for their turn does not count.
   */
  #spentSince(moment: number | undefined): number {
    if (moment === undefined || this.#guards.waitedSince(moment)) return 0
    return this.#deadline.ticksSince(moment)
  }

  /**
   * Hands a lease that nobody uses any more to the store. Neither the open breaker nor a burst stops a
   * release: nothing else would end the lease.
   */
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

  /**
   * Releases a lease whose grant came too late: its load already runs without it, and nothing else would ever
   * end it.
   */
  async #releaseLateGrant(granting: Promise<Acquire> | undefined): Promise<void> {
    try {
      const answer = await granting
      if (answer?.kind === 'lead') await this.inner.release(answer.lease, { kind: 'handover' })
    } catch {
      // The grant never came.
    }
  }
}
