import { type Entry, type NewEntry, NO_VERSION } from '../../entry.ts'
import { checkOptions } from '../../option-rules/check-options.ts'
import { byteSizeRule, countRule, functionRule, MOST_MAP_KEYS, runtimeRule } from '../../option-rules/option-rules.ts'
import type { OptionRules } from '../../option-rules/option-rule.ts'
import { type Board, Boards, type Post } from '../board.ts'
import { RefreshQuota, type RefreshRequest } from '../refresh-quota.ts'
import { type Runtime, systemRuntime } from '../../runtime/runtime.ts'
import type {
  Acquire,
  Cleared,
  Commit,
  Done,
  Inspection,
  Lease,
  Put,
  Read,
  RefreshPermitted,
  Released,
  Renewed,
  TagNumbersRead,
  TagsInvalidated,
  Unkeepable,
} from '../answers.ts'
import type { AcquireRequest, Ending, Notice, Store } from '../store.ts'
import { entryOverhead, heapSizeOf } from '../heap-size.ts'
import { EntryTable } from './entry-table.ts'
import { heldOff } from './key-state.ts'
import { Leases } from './leases.ts'
import type { MemoryStoreOptions } from './options.ts'

/** 64 MB. */
const MAX_BYTES = 64 * 1024 ** 2

const rules = {
  maxEntries: countRule(1, MOST_MAP_KEYS),
  maxBytes: byteSizeRule(1),
  sizeOf: functionRule<(value: unknown) => number>('a function (value) => bytes'),
  runtime: runtimeRule,
} satisfies OptionRules<MemoryStoreOptions>

/**
 * A store in the memory of this process. Values are kept as they are, not copied: treat what a hit returns
 * as read-only.
 *
 * @example
 * import { createCache, memoryStore } from '@cattlegrid/core'
 *
 * const cache = createCache({ store: memoryStore({ maxEntries: 10_000 }) })
 * @throws InvalidOptionError for an option that is unknown or has an invalid value.
 */
export function memoryStore(options?: MemoryStoreOptions): Store {
  const given = checkOptions('memoryStore', options, rules)
  const { maxEntries = 10_000, maxBytes = MAX_BYTES, sizeOf, runtime = systemRuntime } = given
  return new MemoryStore(runtime, maxEntries, maxBytes, sizeOf)
}

/** Every step runs to its end in the call itself, so each is atomic. */
class MemoryStore implements Store {
  readonly shared = false
  /** Shown to `createCache`, whose cache must go by the same time. */
  readonly runtime: Runtime
  readonly #entries: EntryTable
  readonly #leases: Leases
  readonly #refreshes = new RefreshQuota()
  readonly #boards = new Boards()
  readonly #maxBytes: number
  readonly #sizeOf: ((value: unknown) => number) | undefined
  readonly #listeners = new Set<(notice: Notice) => void>()

  constructor(
    runtime: Runtime,
    maxEntries: number,
    maxBytes: number,
    sizeOf: ((value: unknown) => number) | undefined,
  ) {
    this.runtime = runtime
    this.#entries = new EntryTable(runtime, maxEntries, maxBytes, sizeOf === undefined)
    this.#leases = new Leases(this.#entries, runtime)
    this.#maxBytes = maxBytes
    this.#sizeOf = sizeOf
  }

  peek(key: string): Entry | undefined {
    return this.#entries.peek(key)
  }

  read(key: string): Promise<Read> {
    const entry = this.#entries.live(key)
    return Promise.resolve(entry === undefined ? { kind: 'missing', version: NO_VERSION } : { kind: 'found', entry })
  }

  acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    return Promise.resolve(this.#leases.acquire(key, request))
  }

  renew(lease: Lease, duration: number): Promise<Renewed> {
    const held = this.#leases.held(lease)
    if (held.kind === 'refused') return Promise.resolve(held)
    held.until = this.runtime.elapsed() + duration
    return Promise.resolve({ kind: 'renewed' })
  }

  commit(lease: Lease, entry: NewEntry): Promise<Commit> {
    const held = this.#leases.held(lease)
    if (held.kind === 'refused') return Promise.resolve(held)
    const size = this.#measure(lease.key, entry)
    if (typeof size !== 'number') return Promise.resolve(size)
    if (this.#entries.tags.invalidatedSince(entry.tags, held.tagSeq)) {
      this.#end(lease.key, held.awaited, { kind: 'handover' })
      return Promise.resolve({ kind: 'refused', why: 'tag-voided' })
    }
    const tell = held.awaited || this.#entries.isFresh(lease.key)
    const version = this.#entries.write(lease.key, entry, held.tagSeq, size)
    if (tell) this.#notify({ kind: 'committed', key: lease.key })
    return Promise.resolve({ kind: 'stored', version })
  }

  release(lease: Lease, ending: Ending): Promise<Released> {
    const held = this.#leases.held(lease)
    if (held.kind === 'refused') return Promise.resolve(held)
    this.#end(lease.key, held.awaited || (ending.kind === 'uncacheable' && this.#entries.isFresh(lease.key)), ending)
    return Promise.resolve({ kind: 'released' })
  }

  put(key: string, entry: NewEntry): Promise<Put> {
    const size = this.#measure(key, entry)
    if (typeof size !== 'number') return Promise.resolve(size)
    const version = this.#entries.write(key, entry, this.#entries.tags.sequence, size)
    this.#notify({ kind: 'committed', key })
    return Promise.resolve({ kind: 'stored', version })
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    const elapsed = this.runtime.elapsed()
    const state = heldOff(this.#entries.stateOf(key, elapsed), elapsed, holdOff)
    if (how === 'delete') this.#entries.remove(key, state)
    else this.#entries.expire(key, this.runtime.now(), state)
    this.#notify({ kind: how === 'delete' ? 'deleted' : 'expired', key })
    return Promise.resolve({ kind: 'done' })
  }

  invalidateTags(tags: readonly string[], how: 'delete' | 'expire', deleteAfter?: number): Promise<TagsInvalidated> {
    const tagSeq = this.#entries.tags.invalidate(tags, how, this.runtime.now(), deleteAfter)
    this.#notify({ kind: 'tags', tags, tagSeq, how: deleteAfter === undefined ? how : 'delete' })
    return Promise.resolve({ kind: 'done', tagSeq })
  }

  tagNumbers(tags: readonly string[]): Promise<TagNumbersRead> {
    return Promise.resolve({ kind: 'numbers', numbers: tags.map((tag) => this.#entries.tags.of(tag)) })
  }

  permitRefresh(request: RefreshRequest): Promise<RefreshPermitted> {
    const retryAfter = this.#refreshes.grant(request, this.runtime.elapsed())
    return Promise.resolve(retryAfter === 0 ? { kind: 'granted' } : { kind: 'exhausted', retryAfter })
  }

  endRefresh(request: RefreshRequest, unused: boolean): Promise<Done> {
    this.#refreshes.end(request, unused)
    return Promise.resolve({ kind: 'done' })
  }

  post(post: Post): Promise<Board> {
    return Promise.resolve(this.#boards.post(post, this.runtime.elapsed()))
  }

  clear(): Promise<Cleared> {
    const entries = this.#entries.clear()
    this.#notify({ kind: 'cleared' })
    return Promise.resolve({ kind: 'cleared', entries })
  }

  inspect(key: string): Promise<Inspection> {
    return Promise.resolve({ kind: 'found', entry: this.#entries.live(key), ...this.#leases.inspect(key) })
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

  /**
   * Several caches may share one memory store, and each ends its own `watch` first: the last one that closes
   * stops the background work.
   */
  close(): Promise<void> {
    if (this.#listeners.size === 0) this.#entries.stopSweep()
    return Promise.resolve()
  }

  #end(key: string, tell: boolean, ending: Ending): void {
    this.#leases.end(key, ending)
    if (tell) this.#notify({ kind: 'released', key })
  }

  /**
   * The size of the entry's value, in bytes: by `sizeOf`, which answers for the whole entry, or by an
   * estimate, to which the rest of the entry is added.
   */
  #measure(key: string, { value, tags }: NewEntry): number | Unkeepable {
    try {
      const size = this.#sizeOf === undefined ? heapSizeOf(value) : this.#sizeOf(value)
      if (!(size >= 0)) throw new TypeError(`sizeOf returned ${String(size)}; accepted: a number of bytes, at least 0`)
      const total = Math.ceil(size) + (this.#sizeOf === undefined ? entryOverhead(key, tags) : 0)
      if (total <= this.#maxBytes) return Math.max(1, Math.ceil(size))
      const cause = new RangeError(`${total} bytes are more than maxBytes (${this.#maxBytes})`)
      return { kind: 'unkeepable', why: 'too-large', cause }
    } catch (cause) {
      return { kind: 'unkeepable', why: 'encode-failed', cause }
    }
  }

  #notify(notice: Notice): void {
    for (const listener of this.#listeners) listener(notice)
  }
}
