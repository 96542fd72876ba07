import { type Codec, raw } from '../../codec/codec.ts'
import { copyOf, makeEntry, type NewEntry, NO_VERSION, type Version, writtenState } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type {
  Acquire,
  Away,
  Cleared,
  Commit,
  Done,
  Lease,
  Put,
  Read,
  Released,
  Renewed,
  TagsInvalidated,
} from '../answers.ts'
import type { AcquireRequest, Ending, Notice, ReadTerms, Store } from '../store.ts'
import { type CallbackStore, catching, type OnRead } from './callback-store.ts'
import { CopyingStore } from './copying-store.ts'
import { LocalCopies, type InvalidationSnapshot } from './local-copies.ts'
import { EncodedValue } from './encoded-value.ts'
import type { CopyLimits } from './remote-limits.ts'

/**
 * Called for every lease that an away store was asked for; a read reports in its answer that the store
 * is away.
 */
export type OnAway = (key: string, away: Away) => void

/**
 * Serves this process while its store is away: reads are answered from copies of what was read before, and
 * loads take leases of this process, so that a key still has one load, and a failing loader its cooldown.
 * Nothing of it reaches the store.
 *
 * Each key for itself: only a part of the store may be away, such as one node, and an answer about another
 * key then says nothing. A copy is served only where its own key could not be read; the first answer replaces
 * it, and ends the lease here.
 */
export function fallbackStore(
  store: CallbackStore,
  runtime: Runtime,
  limits: CopyLimits,
  onAway: OnAway,
): CallbackStore {
  return new FallbackStore(store, runtime, limits, onAway)
}

/**
 * The version that is replaced by a load whose key could not be read, or about whose key no notices arrived:
 * no entry of the store has it.
 */
const UNKNOWN_VERSION: Version = 'unknown'

/** What is known of a load when it begins. */
interface Grant {
  /** True for a lease of this process alone, which ends here. */
  readonly local: boolean
  /** The state of the invalidations when the load began. */
  readonly snapshot: InvalidationSnapshot
  /** The version of the store that the load replaces. */
  readonly replaces: Version
}

class FallbackStore extends CopyingStore {
  readonly #runtime: Runtime
  readonly #local: Store
  readonly #maxAge: number
  readonly #onAway: OnAway
  /** Each lease ends at the store that granted it. */
  readonly #grants = new WeakMap<Lease, Grant>()
  /**
   * The leases of running loads whose key could not be read, by key: the next answer to a read of the key
   * ends them.
   */
  readonly #awayLeases = new Map<string, Lease>()
  /**
   * Since then notices arrive; without them, nothing would tell that a copy has become wrong. Infinity: they
   * do not.
   */
  #connectedAt = Infinity
  /** Until then there may be a copy of a value that this process loaded without the store. */
  #localUntil: number | undefined

  constructor(inner: CallbackStore, runtime: Runtime, limits: CopyLimits, onAway: OnAway) {
    super(inner, new LocalCopies(runtime, limits))
    this.#runtime = runtime
    // Its own limits: it keeps leases and cooldowns, also where no copies are kept.
    this.#local = memoryStore({ runtime })
    this.#maxAge = limits.maxAge
    this.#onAway = onAway
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead, terms?: ReadTerms): void {
    const snapshot = this.copies.begin(key, this.#runtime.coarseNow())
    const answer = catching(onRead, (read) => onRead(this.#answerOf(read, snapshot, codec)))
    this.inner.readWithCallback(key, codec, answer, terms)
  }

  override async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    if (request.away === true) return await this.#acquireLocally(key, request)
    const snapshot = this.copies.begin(key, this.#runtime.now())
    const replaces = this.#replacedVersion(key, request)
    const answer = await this.inner.acquire(key, request)
    if (answer.kind === 'lead') this.#grants.set(answer.lease, { local: false, snapshot, replaces })
    if (answer.kind !== 'away') return answer
    this.#onAway(key, answer)
    return await this.#acquireLocally(key, request)
  }

  override renew(lease: Lease, duration: number): Promise<Renewed> {
    return (this.#isLocal(lease) ? this.#local : this.inner).renew(lease, duration)
  }

  override async commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit> {
    const value = EncodedValue.of(entry.value, codec)
    if (this.#isLocal(lease)) return await this.#commitLocally(lease, entry, value, codec)
    const answer = await this.inner.commit(lease, entry, value, onSlow)
    if (answer.kind === 'away') this.#keepLoaded(lease, entry, value, codec)
    else this.copies.drop(lease.key)
    return answer
  }

  override release(lease: Lease, ending: Ending): Promise<Released> {
    if (!this.#isLocal(lease)) return super.release(lease, ending)
    this.#forgetLease(lease)
    if (ending.kind === 'uncacheable') this.copies.drop(lease.key)
    return this.#local.release(lease, ending)
  }

  override async put(key: string, entry: NewEntry, codec: Codec, isAbandoned?: () => boolean): Promise<Put> {
    const answer = await super.put(key, entry, codec, isAbandoned)
    await this.#local.invalidate(key, 'delete', 0)
    return answer
  }

  override async invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    const answer = await super.invalidate(key, how, holdOff)
    await this.#local.invalidate(key, 'delete', 0)
    return answer
  }

  override async invalidateTags(
    tags: readonly string[],
    how: 'delete' | 'expire',
    deleteAfter?: number,
  ): Promise<TagsInvalidated> {
    const answer = await super.invalidateTags(tags, how, deleteAfter)
    await this.#local.invalidateTags(tags, how, deleteAfter)
    return answer
  }

  override async clear(): Promise<Cleared> {
    const answer = await super.clear()
    await this.#local.clear()
    return answer
  }

  override watch(listener: (notice: Notice) => void): () => void {
    const unwatch = this.inner.watch((notice) => {
      if (notice.kind === 'connected' || notice.kind === 'disconnected') this.#onConnection(notice)
      // A lease that ended without a commit makes no copy wrong.
      if (notice.kind !== 'released') this.copies.onNotice(notice)
      listener(notice)
    })
    // The ends of local leases wake their waiters; an invalidation of the local store says nothing of the
    // remote one.
    const unwatchLocal = this.#local.watch((notice) => {
      if (notice.kind === 'committed' || notice.kind === 'released') listener(notice)
    })
    return () => {
      unwatch()
      unwatchLocal()
    }
  }

  #onConnection({ kind, part }: Extract<Notice, { readonly kind: 'connected' | 'disconnected' }>): void {
    if (part === undefined) this.#connectedAt = kind === 'connected' ? this.#runtime.now() : Infinity
    // Loads that began before may have missed an invalidation. Nothing tells which once the part is back.
    else if (this.#connectedAt !== Infinity) this.#connectedAt = this.#runtime.now()
  }

  #answerOf(read: Read, snapshot: InvalidationSnapshot, codec: Codec): Read {
    if (read.kind === 'away') return this.#copyInstead(snapshot.key, codec, read)
    if (this.#awayLeases.size > 0) this.#endLease(snapshot.key)
    const local = this.#localInstead(read, snapshot.key, codec)
    if (local !== undefined) return local
    this.copies.offer(snapshot, read.kind === 'found' ? read.entry : undefined, codec)
    return read
  }

  #copyInstead(key: string, codec: Codec, away: Away): Read {
    const entry = this.copies.get(key, codec, this.#runtime.now())
    return entry === undefined
      ? { kind: 'missing', version: NO_VERSION, away }
      : { kind: 'found', entry: copyOf(entry, 'outage'), away }
  }

  /**
   * The value that this process loaded because the store, which still answers reads, could not grant a lease
   * or did not answer the commit: a store out of memory, a read-only replica, a slow one, a node of the tags
   * that is silent. It is served while the store has the version that the load replaced, and if notices have
   * reported every invalidation since the load began. The next load asks the store for a lease again.
   */
  #localInstead(read: Exclude<Read, Away>, key: string, codec: Codec): Read | undefined {
    if (this.#localUntil === undefined) return undefined
    const now = this.#runtime.now()
    if (now >= this.#localUntil) this.#localUntil = undefined
    const local = this.copies.get(key, codec, now)
    if (local?.from !== 'outage' || local.committedAt - local.loadTime < this.#connectedAt) return undefined
    const stored = read.kind === 'found' ? read.entry : read
    if (stored.version !== local.version || ('freshUntil' in stored && stored.freshUntil > now)) return undefined
    return { kind: 'found', entry: local }
  }

  async #commitLocally(lease: Lease, entry: NewEntry, value: EncodedValue, codec: Codec): Promise<Commit> {
    if (value.bytes === undefined) return { kind: 'unkeepable', why: 'encode-failed', cause: value.error }
    this.#forgetLease(lease)
    const answer = await this.#local.commit(lease, { ...entry, value: value.bytes }, raw)
    if (answer.kind !== 'stored') return answer
    this.#keepLoaded(lease, entry, value, codec)
    // The copies serve the value; as an entry of the local store it would only refuse the next lease.
    await this.#local.invalidate(lease.key, 'delete', 0)
    return { kind: 'away', why: 'error', cause: new Error('Not stored: the store was away when the load began') }
  }

  /**
   * Keeps a value that the store has not got, or has not confirmed, unless an invalidation has overtaken
   * its load.
   */
  #keepLoaded(lease: Lease, loaded: NewEntry, value: EncodedValue, codec: Codec): void {
    const grant = this.#grants.get(lease)
    if (grant === undefined || value.bytes === undefined || this.copies.isOvertaken(grant.snapshot))
      return this.copies.drop(lease.key)
    const { snapshot, replaces } = grant
    const written = { version: replaces, tagSeq: lease.tagSeq ?? 0, size: value.bytes.length }
    const state = writtenState(loaded, written, this.#runtime.now())
    this.#localUntil = state.committedAt + this.#maxAge
    const kept = makeEntry({ ...loaded, value: undefined, encoded: value.bytes }, state, 'outage')
    this.copies.keep(snapshot.withSentAt(state.committedAt), kept, codec, 'outage')
  }

  #isLocal(lease: Lease): boolean {
    return this.#grants.get(lease)?.local === true
  }

  async #acquireLocally(key: string, request: AcquireRequest): Promise<Acquire> {
    const snapshot = this.copies.begin(key, this.#runtime.now())
    const replaces = this.#replacedVersion(key, request)
    const answer = await this.#local.acquire(key, { ...request, seen: NO_VERSION })
    if (answer.kind !== 'lead') return answer
    if (request.away === true) this.#awayLeases.set(key, answer.lease)
    this.#grants.set(answer.lease, { local: true, snapshot, replaces })
    return answer
  }

  /** Asked before the load begins: without notices, an invalidation during the load would go unnoticed. */
  #replacedVersion(key: string, request: AcquireRequest): Version {
    return request.away === true || !this.receivesNotices(key) ? UNKNOWN_VERSION : request.seen
  }

  /** The load that has the lease has ended. */
  #forgetLease(lease: Lease): void {
    if (this.#awayLeases.get(lease.key) === lease) this.#awayLeases.delete(lease.key)
  }

  /**
   * The store has answered a read of the key: what this process still loads without it does not count
   * any more.
   */
  #endLease(key: string): void {
    if (this.#awayLeases.delete(key)) void this.#local.invalidate(key, 'delete', 0)
  }
}
