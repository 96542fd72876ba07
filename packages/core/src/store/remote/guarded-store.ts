import type { Codec } from '../../codec/codec.ts'
import type { NewEntry } from '../../entry.ts'
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
import type { AcquireRequest, Ending, Notice, Store } from '../store.ts'
import { BoundedMap } from '../../maps/bounded-map.ts'
import { type CallbackStore, type OnRead, readFrom } from './callback-store.ts'
import { Deadline, type TimedStep } from './deadline.ts'
import { EncodedValue } from './encoded-value.ts'
import { ForwardingStore } from './forwarding-store.ts'
import { NodeGuard, type QueuedTerms } from './node-guard.ts'
import { addUser, removeUser } from './store-users.ts'

/** A step that ends or renews what a load holds. It has a longer time limit, because an early end would leave the lease or the permit behind. */
const IN_BACKGROUND: QueuedTerms = { limit: 4, lane: 'ending' }
/** The time limit of `clear`, which visits every key, in time-outs. */
const FOR_CLEAR: QueuedTerms = { limit: 120 }
/** So many nodes have a guard of their own: more than a cluster has, with those that left it lately. */
const NODES_KEPT = 1_000
/** The name of the node of a store that has no others. */
const ONLY_NODE = ''

/**
 * A store whose every step ends in time, if only as `away`, and whose nodes are not asked while they do not answer. A step has `timeout` ms from the moment
 * at which it is sent; in a burst it waits for its turn before, for at most `patience` ms.
 *
 * @throws InvalidOptionError for a closed store.
 */
export function guardedStore(store: Store, runtime: Runtime, timeout: number, patience: number): CallbackStore {
  return new GuardedStore(store, runtime, timeout, patience)
}

/** The innermost decorator: it counts the caches that use the store. */
class GuardedStore extends ForwardingStore<Store> {
  readonly #runtime: Runtime
  readonly #timeout: number
  readonly #patience: number
  readonly #deadline: Deadline
  /** By name. */
  readonly #guards = new BoundedMap<string, NodeGuard>(NODES_KEPT, (forgotten) => {
    for (const guard of forgotten) guard.end()
  })
  readonly #listeners = new Set<(notice: Notice) => void>()

  constructor(inner: Store, runtime: Runtime, timeout: number, patience: number) {
    addUser(inner)
    super(inner)
    this.#runtime = runtime
    this.#timeout = timeout
    this.#patience = patience
    this.#deadline = new Deadline(runtime, timeout)
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead): void {
    this.#guardOf(key).read<Read>((onAnswer) => readFrom(this.inner, key, codec, onAnswer), onRead)
  }

  override async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    let granting: Promise<Acquire> | undefined
    const spent = this.#spentSince(request.since)
    const answer = await this.#guardOf(key).run(() => (granting = this.inner.acquire(key, request)), { spent })
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#releaseLateGrant(granting)
    return answer
  }

  override renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.#guardOf(lease.key).run(() => this.inner.renew(lease, duration), IN_BACKGROUND)
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
    const answer = await this.#guardOf(lease.key).run(commit, IN_BACKGROUND, this.#guardOfTagsOf(entry))
    if (!sent) this.#giveBack(lease, { kind: 'handover' })
    return answer
  }

  override async release(lease: Lease, ending: Ending): Promise<Released> {
    let sent = false
    const release = (): Promise<Released> => {
      sent = true
      return this.inner.release(lease, ending)
    }
    const answer = await this.#guardOf(lease.key).run(release, IN_BACKGROUND)
    if (!sent) this.#giveBack(lease, ending)
    return answer
  }

  override put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    const ownCodec = EncodedValue.of(entry.value, codec)
    const put: TimedStep<Put> = (isOver) => this.inner.put(key, entry, ownCodec, isOver)
    return this.#guardOf(key).run(put, undefined, this.#guardOfTagsOf(entry))
  }

  override invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#guardOf(key).run(() => this.inner.invalidate(key, how, holdOff))
  }

  override invalidateTags(tags: readonly string[], how: 'delete' | 'expire'): Promise<TagsInvalidated> {
    return this.#guardOfTags().run(() => this.inner.invalidateTags(tags, how))
  }

  override tagNumbers(tags: readonly string[], since?: number): Promise<TagNumbersRead | Away> {
    return this.#guardOfTags().run(() => this.inner.tagNumbers(tags), { spent: this.#spentSince(since) })
  }

  override async permitRefresh(request: RefreshRequest): Promise<RefreshPermitted> {
    let granting: Promise<RefreshPermitted> | undefined
    const answer = await this.#guardOfRefreshBudget().run(() => (granting = this.inner.permitRefresh(request)))
    if (answer.kind === 'away' && answer.why === 'deadline') void this.#endLatePermit(request, granting)
    return answer
  }

  override endRefresh(request: RefreshRequest, unused: boolean): Promise<Done> {
    return this.#guardOfRefreshBudget().run(() => this.inner.endRefresh(request, unused), IN_BACKGROUND)
  }

  override clear(): Promise<Cleared> {
    const refusal = this.#allGuards.find((guard) => guard.refusal !== undefined)?.refusal
    return refusal === undefined ? this.#deadline.within(() => this.inner.clear(), FOR_CLEAR) : Promise.resolve(refusal)
  }

  override inspect(key: string): Promise<Inspection | Away> {
    return this.#guardOf(key).run(() => this.inner.inspect(key))
  }

  override ping(): Promise<Done> {
    return this.#guardOfTags().run(() => this.inner.ping())
  }

  override watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    const unwatch = this.inner.watch((notice) => {
      // A connection for notices is back, so an away node may answer again.
      if (notice.kind === 'connected') for (const guard of this.#allGuards) guard.probe()
      listener(notice)
    })
    return () => {
      this.#listeners.delete(listener)
      unwatch()
    }
  }

  override close(): Promise<void> {
    for (const guard of this.#allGuards) guard.end()
    return removeUser(this.inner)
  }

  get #allGuards(): readonly NodeGuard[] {
    return [...this.#guards.values()]
  }

  #guardOf(key: string): NodeGuard {
    return this.#guardAt(this.nodes === undefined ? ONLY_NODE : this.nodes.ofKey(key))
  }

  #guardOfTags(): NodeGuard {
    return this.#guardAt(this.nodes?.ofTags() ?? ONLY_NODE)
  }

  #guardOfRefreshBudget(): NodeGuard {
    return this.#guardAt(this.nodes?.ofRefreshBudget() ?? ONLY_NODE)
  }

  /** A write of an entry with tags asks their node, too. */
  #guardOfTagsOf({ tags }: NewEntry): NodeGuard | undefined {
    return tags.length === 0 ? undefined : this.#guardOfTags()
  }

  #guardAt(node: string): NodeGuard {
    const known = this.#guards.get(node)
    if (known !== undefined) return known
    const guard = this.#makeGuard(node)
    this.#guards.set(node, guard)
    return guard
  }

  #makeGuard(node: string): NodeGuard {
    const { inner, nodes } = this
    const part = nodes && { name: node, includes: (key: string) => nodes.ofKey(key) === node }
    const cause = new Error(
      nodes === undefined ? 'The store has stopped answering' : `The node ${node} has stopped answering`,
    )
    return new NodeGuard({
      runtime: this.#runtime,
      deadline: this.#deadline,
      timeout: this.#timeout,
      patience: this.#patience,
      ping: () => (nodes === undefined ? inner.ping() : nodes.ping(node)),
      onChange: (kind) => {
        for (const listener of this.#listeners) listener({ kind, part })
      },
      whileOpen: { kind: 'away', why: 'breaker', cause },
    })
  }

  /** The ticks of a call's time limit that the store has used. A burst is not silence: the time in which steps wait for their turn does not count. */
  #spentSince(moment: number | undefined): number {
    if (moment === undefined || this.#allGuards.some((guard) => guard.waitedSince(moment))) return 0
    return this.#deadline.ticksSince(moment)
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
