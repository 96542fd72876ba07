import type { Codec } from '../../codec.ts'
import { copyOf, type Entry, type NewEntry, NO_VERSION, type Version } from '../../entry.ts'
import type {
  Lease,
  Acquire,
  AcquireRequest,
  Away,
  Cleared,
  Commit,
  Done,
  Ending,
  Notice,
  Put,
  Read,
  Released,
  Renewed,
  Store,
  TagsFallen,
} from '../store.ts'
import type { CopyLimits } from './remote-limits.ts'
import type { Runtime } from '../../runtime.ts'
import { LocalCopies, type ReadSnapshot } from './local-copies.ts'
import { CopyingStore } from './copying-store.ts'
import { type OnRead, catching } from './forwarding-store.ts'
import { memoryStore } from '../memory/memory-store.ts'

/** Told of every lease that a store which is away was asked for. What it is to a read, the read itself says. */
export type OnAway = (key: string, cause: unknown) => void

/**
 * What a process does while its store is away: it answers from what it read of late, and its own loads take leases of this process, so that
 * a key has one load and a failing source its cooldown all the same. Nothing of it reaches the store; all of it is forgotten with the
 * first answer that the store gives again.
 */
export function outageStore(store: Store, runtime: Runtime, limits: CopyLimits, onAway: OnAway): Store {
  return new OutageStore(store, runtime, limits, onAway)
}

interface Grant {
  /** What became of the key since its load began. */
  readonly reading: ReadSnapshot
  /** The version that the load replaces. */
  readonly seen: Version
}

class OutageStore extends CopyingStore {
  readonly #runtime: Runtime
  readonly #local: Store
  readonly #maxAge: number
  readonly #onAway: OnAway
  /** A lease ends at the store that granted it: these are this process's own. */
  readonly #grants = new WeakMap<Lease, Grant>()
  #out = false
  /** Whether notices arrive that would say when a copy has become wrong. */
  #hearing = false
  /** Until then there may be a copy of a value that this process has loaded itself. */
  #ownUntil: number | undefined

  constructor(inner: Store, runtime: Runtime, limits: CopyLimits, onAway: OnAway) {
    super(inner, new LocalCopies(limits))
    this.#runtime = runtime
    this.#local = memoryStore({ runtime, maxEntries: limits.maxEntries, maxBytes: limits.maxBytes })
    this.#maxAge = limits.maxAge
    this.#onAway = onAway
  }

  override readWithCallback(key: string, codec: Codec, hear: OnRead): void {
    const reading = this.copies.begin(key, this.#runtime.coarseNow())
    const heard = catching(hear, (read) => hear(this.#heard(read, reading, codec)))
    super.readWithCallback(key, codec, heard)
  }

  override async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    if (request.away === true) return await this.#grant(key, request)
    const answer = await this.inner.acquire(key, request)
    if (answer.kind !== 'away') return answer
    this.#onAway(key, answer.cause)
    return await this.#grant(key, request)
  }

  override renew(lease: Lease, duration: number): Promise<Renewed> {
    return (this.#grants.has(lease) ? this.#local : this.inner).renew(lease, duration)
  }

  override async commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    const grant = this.#grants.get(lease)
    if (grant === undefined) return await super.commit(lease, entry, codec)
    const answer = await this.#local.commit(lease, entry, codec)
    const loaded = answer.kind === 'stored' ? this.#local.peek(lease.key, codec, this.#runtime.now()) : undefined
    if (loaded !== undefined) this.#keepOwn(grant, loaded, codec)
    if (answer.kind !== 'stored') return answer
    // What this process may serve is among its copies: here it would only be in the next load's way.
    await this.#local.invalidate(lease.key, 'delete', 0)
    return {
      kind: 'away',
      why: 'error',
      cause: new Error('Nothing was stored: the store was away when the load began'),
    }
  }

  override release(lease: Lease, ending: Ending): Promise<Released> {
    const grant = this.#grants.get(lease)
    if (grant === undefined) return super.release(lease, ending)
    if (ending.kind === 'uncacheable') this.copies.drop(lease.key)
    return this.#local.release(lease, ending)
  }

  override async put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    const answer = await super.put(key, entry, codec)
    await this.#local.invalidate(key, 'delete', 0)
    return answer
  }

  override async invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    const answer = await super.invalidate(key, how, holdOff)
    await this.#local.invalidate(key, 'delete', 0)
    return answer
  }

  override async invalidateTags(tags: readonly string[]): Promise<TagsFallen> {
    const answer = await super.invalidateTags(tags)
    await this.#local.invalidateTags(tags)
    return answer
  }

  override async clear(): Promise<Cleared> {
    const answer = await super.clear()
    await this.#local.clear()
    return answer
  }

  override watch(listener: (notice: Notice) => void): () => void {
    const unwatch = this.inner.watch((notice) => {
      if (notice.kind === 'connected' || notice.kind === 'disconnected') this.#hearing = notice.kind === 'connected'
      // A lease that ended without a commit changes nothing of what was read.
      if (notice.kind !== 'released') this.copies.onNotice(notice)
      listener(notice)
    })
    // What becomes of the leases of this process; that they are forgotten is no news of the store's.
    const unwatchLocal = this.#local.watch((notice) => {
      if (notice.kind === 'committed' || notice.kind === 'released') listener(notice)
    })
    return () => {
      unwatch()
      unwatchLocal()
    }
  }

  #heard(read: Read, reading: ReadSnapshot, codec: Codec): Read {
    if (read.kind === 'away') return this.#lastKnown(reading.key, codec, read)
    if (this.#out) this.#forget()
    const own = this.#insteadOf(read, reading.key, codec)
    if (own !== undefined) return own
    this.copies.offer(reading, read.kind === 'found' ? read.entry : undefined, codec)
    return read
  }

  #lastKnown(key: string, codec: Codec, away: Away): Read {
    this.#out = true
    const entry = this.copies.get(key, codec, this.#runtime.now())
    return entry === undefined
      ? { kind: 'missing', version: NO_VERSION, away }
      : { kind: 'found', entry: copyOf(entry, 'outage'), away }
  }

  /**
   * The value that this process loaded because the store, which still answers reads, refused a lease: a store without memory, a replica, one
   * that is slow. It stands while the store has nothing else than when it was loaded, and while notices would tell of an invalidation. The
   * next load asks the store for a lease again.
   */
  #insteadOf(read: Exclude<Read, Away>, key: string, codec: Codec): Read | undefined {
    if (this.#ownUntil === undefined || !this.#hearing) return undefined
    const now = this.#runtime.now()
    if (now >= this.#ownUntil) this.#ownUntil = undefined
    const own = this.copies.get(key, codec, now)
    if (own?.from !== 'outage') return undefined
    const theirs = read.kind === 'found' ? read.entry : read
    if (theirs.version !== own.version || ('freshUntil' in theirs && theirs.freshUntil > now)) return undefined
    return { kind: 'found', entry: own }
  }

  #keepOwn({ reading, seen }: Grant, loaded: Entry, codec: Codec): void {
    this.#ownUntil = loaded.committedAt + this.#maxAge
    const known = { ...reading, askedAt: loaded.committedAt }
    this.copies.end(known, { ...loaded, version: seen }, codec, 'outage')
  }

  async #grant(key: string, request: AcquireRequest): Promise<Acquire> {
    const reading = this.copies.begin(key, this.#runtime.now())
    const answer = await this.#local.acquire(key, { ...request, seen: NO_VERSION })
    if (answer.kind === 'lead') this.#grants.set(answer.lease, { reading, seen: request.seen })
    return answer
  }

  #forget(): void {
    this.#out = false
    this.copies.dropAll()
    void this.#local.clear()
  }
}
