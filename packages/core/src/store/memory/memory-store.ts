import type { Codec } from '../../codec.ts'
import { type Entry, EXPIRED_BY_HAND, type NewEntry, NO_VERSION, type Version } from '../../entry.ts'
import type {
  Lease,
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
  TagNumbersRead,
  Unkeepable,
} from '../store.ts'
import {
  byteSizeRule,
  checkOptions,
  countRule,
  functionRule,
  type OptionRules,
  runtimeRule,
} from '../../option-rules.ts'
import type { MemoryStoreOptions } from './options.ts'
import { type Runtime, systemRuntime } from '../../runtime.ts'
import { HitLru, LruNode } from '../hit-lru.ts'
import { stateAfter, type LeaseState, type KeyState, refusal } from './lease-marks.ts'
import { TagNumbers } from '../tag-numbers.ts'

interface OwnEntry extends Entry {
  /** Raised to where the sequence stands when its tags are found to stand: until that moves on they need no second look. */
  tagSeq: number
}

/** Entry and mark of a key live and are evicted together: bounded by the same limit. */
class KeyRecord extends LruNode {
  readonly entry: OwnEntry | undefined
  readonly state: KeyState | undefined

  constructor(key: string, entry: OwnEntry | undefined, state: KeyState | undefined) {
    super(key)
    this.entry = entry
    this.state = state
  }
}

/** A Map holds no more keys than this. */
const MOST_ENTRIES = 2 ** 24 - 1

const rules = {
  maxEntries: countRule(1, MOST_ENTRIES),
  maxBytes: byteSizeRule(1),
  sizeOf: functionRule<(value: unknown) => number>('a function (value) => bytes'),
  runtime: runtimeRule,
} satisfies OptionRules<MemoryStoreOptions>

/**
 * A store in the memory of this process. Values are kept as they are, not copied: treat what a hit returns as read-only.
 *
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function memoryStore(options?: MemoryStoreOptions): Store {
  const { maxEntries, maxBytes, sizeOf, runtime } = checkOptions('memoryStore', options, rules)
  return new MemoryStore(runtime ?? systemRuntime, maxEntries ?? 10_000, maxBytes, sizeOf)
}

class MemoryStore implements Store {
  readonly shared = false
  readonly #runtime: Runtime
  readonly #slots: HitLru<KeyRecord>
  readonly #tags: TagNumbers
  readonly #maxBytes: number | undefined
  readonly #sizeOf: ((value: unknown) => number) | undefined
  readonly #listeners = new Set<(notice: Notice) => void>()
  #commits = 0

  constructor(
    runtime: Runtime,
    maxEntries: number,
    maxBytes: number | undefined,
    sizeOf: ((value: unknown) => number) | undefined,
  ) {
    this.#runtime = runtime
    this.#maxBytes = maxBytes
    this.#sizeOf = sizeOf
    this.#tags = new TagNumbers(maxEntries)
    this.#slots = new HitLru({ maxEntries, maxBytes, sizeOf: ({ entry }) => entry?.size ?? 1 })
  }

  peek(key: string): Entry | undefined {
    const slot = this.#slots.hit(key)
    return slot === undefined ? undefined : this.#ifTagsValid(slot)
  }

  read(key: string): Promise<Read> {
    const entry = this.#liveEntry(key)
    return Promise.resolve(entry === undefined ? { kind: 'missing', version: NO_VERSION } : { kind: 'found', entry })
  }

  acquire(key: string, { duration, seen, wake }: AcquireRequest): Promise<Acquire> {
    const now = this.#runtime.now()
    const entry = this.#liveEntry(key)
    if (entry !== undefined && entry.version !== seen) return Promise.resolve({ kind: 'changed' })
    const mark = this.#stateOf(key, now)
    const busy = mark === undefined ? undefined : refusal(mark, now, wake)
    if (busy !== undefined) return Promise.resolve(busy)
    const attempts = mark?.kind === 'cooling' ? mark.attempts : 0
    const token = this.#runtime.token()
    this.#put(key, entry, {
      kind: 'lease',
      token,
      attempts,
      grantedAt: now,
      tagSeq: this.#tags.sequence,
      awaited: false,
      until: now + duration,
    })
    return Promise.resolve({ kind: 'lead', lease: { key, token, attempts, sentAt: now } })
  }

  renew(lease: Lease, duration: number): Promise<{ readonly kind: 'renewed' } | Refused> {
    const held = this.#held(lease)
    if (held.kind === 'refused') return Promise.resolve(held)
    held.until = this.#runtime.now() + duration
    return Promise.resolve({ kind: 'renewed' })
  }

  commit(lease: Lease, fresh: NewEntry, codec: Codec): Promise<Commit> {
    const held = this.#held(lease)
    if (held.kind === 'refused') return Promise.resolve(held)
    const size = this.#weigh(fresh.value, codec)
    if (typeof size !== 'number') return Promise.resolve(size)
    if (this.#tags.invalidatedSince(fresh.tags, held.tagSeq)) {
      this.#end(lease.key, held, 'released')
      return Promise.resolve({ kind: 'refused', why: 'tag-voided' })
    }
    const version = this.#write(lease.key, fresh, held.tagSeq, size)
    if (held.awaited) this.#notify({ kind: 'committed', key: lease.key })
    return Promise.resolve({ kind: 'stored', version })
  }

  release(lease: Lease, ending: Ending): Promise<{ readonly kind: 'released' } | Refused> {
    const held = this.#held(lease)
    if (held.kind === 'refused') return Promise.resolve(held)
    this.#end(lease.key, held, 'released', stateAfter(ending, this.#runtime.now()))
    return Promise.resolve({ kind: 'released' })
  }

  put(
    key: string,
    fresh: NewEntry,
    codec: Codec,
  ): Promise<{ readonly kind: 'stored'; readonly version: Version } | Unkeepable> {
    const size = this.#weigh(fresh.value, codec)
    if (typeof size !== 'number') return Promise.resolve(size)
    const version = this.#write(key, fresh, this.#tags.sequence, size)
    this.#notify({ kind: 'committed', key })
    return Promise.resolve({ kind: 'stored', version })
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    const now = this.#runtime.now()
    const entry = how === 'delete' ? undefined : expireByHand(this.#liveEntry(key), now)
    this.#put(key, entry, holdOff > 0 ? { kind: 'held-off', until: now + holdOff } : undefined)
    this.#notify({ kind: how === 'delete' ? 'deleted' : 'expired', key })
    return Promise.resolve({ kind: 'done' })
  }

  invalidateTags(tags: readonly string[]): Promise<{ readonly kind: 'done'; readonly tagSeq: number }> {
    const tagSeq = this.#tags.fall(tags)
    this.#notify({ kind: 'tags', tags, tagSeq })
    return Promise.resolve({ kind: 'done', tagSeq })
  }

  tagNumbers(tags: readonly string[]): Promise<TagNumbersRead> {
    return Promise.resolve({ kind: 'numbers', numbers: tags.map((tag) => this.#tags.of(tag)) })
  }

  clear(): Promise<{ readonly kind: 'cleared'; readonly entries: number }> {
    const now = this.#runtime.now()
    const entries = [...this.#slots.values()].filter(({ entry }) => entry !== undefined && goneAt(entry) > now).length
    this.#slots.clear()
    this.#notify({ kind: 'cleared' })
    return Promise.resolve({ kind: 'cleared', entries })
  }

  inspect(key: string): Promise<Inspection | Away> {
    const now = this.#runtime.now()
    const mark = this.#stateOf(key, now)
    const lease =
      mark?.kind === 'lease'
        ? { heldFor: now - mark.grantedAt, remaining: mark.until - now, awaited: mark.awaited }
        : undefined
    const cools = mark?.kind === 'cooling' && mark.coolUntil > now
    const cooldown = cools
      ? { remaining: mark.coolUntil - now, attempts: mark.attempts, failure: mark.failure }
      : undefined
    return Promise.resolve({ kind: 'found', entry: this.#liveEntry(key), lease, cooldown })
  }

  ping(): Promise<Done> {
    return Promise.resolve({ kind: 'done' })
  }

  watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Nothing to end: who watches stops watching. Several caches may share one memory store. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  #liveEntry(key: string): OwnEntry | undefined {
    const slot = this.#slots.hit(key)
    const entry = slot === undefined ? undefined : this.#ifTagsValid(slot)
    return entry === undefined || goneAt(entry) <= this.#runtime.now() ? undefined : entry
  }

  /** The entry, unless one of its tags has fallen. */
  #ifTagsValid(slot: KeyRecord): OwnEntry | undefined {
    const { entry } = slot
    return entry === undefined || entry.tagSeq === this.#tags.sequence ? entry : this.#judged(entry)
  }

  #judged(entry: OwnEntry): OwnEntry | undefined {
    if (this.#tags.invalidatedSince(entry.tags, entry.tagSeq)) return undefined
    entry.tagSeq = this.#tags.sequence
    return entry
  }

  #stateOf(key: string, now: number): KeyState | undefined {
    const mark = this.#slots.peek(key)?.state
    return mark !== undefined && mark.until > now ? mark : undefined
  }

  #held(lease: Lease): LeaseState | Refused {
    // Who renews a lease, or ends it, uses it: else new keys would push it out.
    const mark = this.#slots.hit(lease.key)?.state
    if (mark === undefined) return { kind: 'refused', why: 'voided' }
    if (mark.kind !== 'lease' || mark.token !== lease.token) return { kind: 'refused', why: 'taken' }
    return mark.until > this.#runtime.now() ? mark : { kind: 'refused', why: 'expired' }
  }

  #write(key: string, fresh: NewEntry, tagSeq: number, size: number): Version {
    // Whole ms: a number with a fraction would be an object of its own in the heap.
    const now = Math.floor(this.#runtime.now())
    this.#commits += 1
    const version = String(this.#commits)
    // Field by field: an object that is spread into another takes half as much memory again.
    const entry: OwnEntry = {
      value: fresh.value,
      version,
      committedAt: now,
      freshUntil: now + Math.floor(fresh.ttl),
      expired: false,
      staleWhileRevalidate: fresh.staleWhileRevalidate,
      staleIfError: fresh.staleIfError,
      loadTime: Math.ceil(fresh.loadTime),
      tags: fresh.tags,
      tagSeq,
      size,
      from: 'store',
      promised: undefined,
    }
    this.#put(key, entry, undefined)
    return version
  }

  #end(key: string, held: LeaseState, kind: 'released', next?: KeyState): void {
    // An uncacheable result takes the old value with it: else it would be served on.
    this.#put(key, next?.kind === 'uncacheable' ? undefined : this.#liveEntry(key), next)
    if (held.awaited) this.#notify({ kind, key })
  }

  #put(key: string, entry: OwnEntry | undefined, state: KeyState | undefined): void {
    if (entry === undefined && state === undefined) this.#slots.delete(key)
    else this.#slots.set(new KeyRecord(key, entry, state))
  }

  #weigh(value: unknown, codec: Codec): number | Unkeepable {
    if (this.#maxBytes === undefined) return 1
    try {
      const size = this.#sizeOf === undefined ? codec.encode(value).length : this.#sizeOf(value)
      if (!(size >= 0)) throw new TypeError(`sizeOf returned ${String(size)}; accepted: a number of bytes`)
      if (size <= this.#maxBytes) return Math.max(1, Math.ceil(size))
      const cause = new RangeError(`${size} bytes are more than maxBytes (${this.#maxBytes})`)
      return { kind: 'unkeepable', why: 'too-large', cause }
    } catch (cause) {
      return { kind: 'unkeepable', why: 'encode-failed', cause }
    }
  }

  #notify(notice: Notice): void {
    for (const listener of this.#listeners) listener(notice)
  }
}

function goneAt({ freshUntil, staleWhileRevalidate, staleIfError }: Entry): number {
  return freshUntil + Math.max(staleWhileRevalidate, staleIfError)
}

function expireByHand(entry: OwnEntry | undefined, now: number): OwnEntry | undefined {
  if (entry === undefined || (entry.staleWhileRevalidate === 0 && entry.staleIfError === 0)) return undefined
  return { ...entry, version: EXPIRED_BY_HAND, expired: true, freshUntil: Math.min(entry.freshUntil, Math.floor(now)) }
}
