import { type Entry, type NewEntry, type Version, writtenState } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { entryOverhead, heapSizeOf } from '../heap-size.ts'
import { HitLru } from '../hit-lru.ts'
import { Sweeper } from '../sweeper.ts'
import { freshUntilExpiry, windowsUntil } from '../tag-expiry.ts'
import { KeyRecord, StoredEntry } from './key-record.ts'
import type { KeyMark, KeyState, LeaseState } from './key-state.ts'
import { TagTable } from './tag-table.ts'

/** The keys of a memory store: their entries, judged by their tags and windows, and the state beside each. */
export class EntryTable {
  readonly tags: TagTable
  readonly #runtime: Runtime
  readonly #records: HitLru<KeyRecord>
  readonly #sweeper: Sweeper<KeyRecord>
  /**
   * No eviction takes one, and none takes the place of an entry: a key that is being loaded would be loaded
   * twice. Each belongs to a running load, which ends it.
   */
  readonly #leases = new Map<string, LeaseState>()
  #writes = 0

  /** `countsOverhead`: `maxBytes` also bounds what is kept beside the values. */
  constructor(runtime: Runtime, maxEntries: number, maxBytes: number, countsOverhead: boolean) {
    this.tags = new TagTable(maxEntries)
    this.#runtime = runtime
    this.#records = new HitLru({
      maxEntries,
      maxBytes,
      sizeOf: (record) => (countsOverhead ? overheadOf(record) + (record.entry?.size ?? 0) : (record.entry?.size ?? 1)),
      onRemove: ({ entry }) => {
        if (entry !== undefined) this.tags.remove(entry.tags)
      },
    })
    this.#sweeper = new Sweeper(this.#records, runtime, (record) => this.#expiryOf(record))
  }

  /** Stops removing expired entries in the background until the next one is written. */
  stopSweep(): void {
    this.#sweeper.stop()
  }

  /** The entry, unless one of its tags was invalidated; its windows are not judged. */
  peek(key: string): StoredEntry | undefined {
    const entry = this.#records.hit(key)?.entry
    return entry === undefined || entry.tagSeq === this.tags.sequence ? entry : this.#checkTags(entry)
  }

  /** The entry, while it may still be served. */
  live(key: string): StoredEntry | undefined {
    const entry = this.peek(key)
    return entry === undefined || goneAt(entry) <= this.#runtime.now() ? undefined : entry
  }

  /** True while the entry is fresh: copies of it may be served elsewhere. */
  isFresh(key: string): boolean {
    const entry = this.peek(key)
    return entry !== undefined && !entry.expired && entry.freshUntil > this.#runtime.now()
  }

  /** The state of the key at that moment of `elapsed()`. It does not count as a use. */
  stateOf(key: string, elapsed: number): KeyState | undefined {
    const state = this.#leases.get(key) ?? this.#records.peek(key)?.state
    return state !== undefined && state.until > elapsed ? state : undefined
  }

  /** The state of the key, ended or not, for its holder. */
  endedStateOf(key: string): KeyState | undefined {
    return this.#leases.get(key) ?? this.#records.peek(key)?.state
  }

  /** Keeps the live entry, and replaces the state beside it by a lease. */
  setLease(key: string, lease: LeaseState): void {
    if (this.#records.peek(key)?.state !== undefined) this.setState(key, undefined)
    this.#leases.set(key, lease)
  }

  /** Keeps the live entry and replaces the state beside it. */
  setState(key: string, state: KeyMark | undefined): void {
    this.#leases.delete(key)
    const entry = this.live(key)
    if (entry === undefined) return this.remove(key, state)
    entry.state = state
    this.#keep(entry)
  }

  /** Writes an entry, which ends the state of its key. */
  write(key: string, written: NewEntry, tagSeq: number, size: number): Version {
    this.#writes += 1
    this.#leases.delete(key)
    const version = String(this.#writes)
    const state = writtenState(written, { version, tagSeq, size }, this.#runtime.now())
    this.#keep(new StoredEntry(key, written, this.#writes, state))
    return version
  }

  /** Removes the entry. */
  remove(key: string, state: KeyMark | undefined): void {
    this.#leases.delete(key)
    if (state === undefined) this.#records.delete(key)
    else this.#keep(new KeyRecord(key, state))
  }

  /** Makes the entry stale, whatever its ttl; without a stale window it is removed. */
  expire(key: string, now: number, state: KeyMark | undefined): void {
    this.#leases.delete(key)
    const entry = this.live(key)
    if (entry === undefined || (entry.staleWhileRevalidate === 0 && entry.staleIfError === 0))
      return this.remove(key, state)
    const expired = entry.expiredByHand(Math.min(entry.freshUntil, Math.floor(now)))
    expired.state = state
    this.#keep(expired)
  }

  /** Removes everything, and returns how many entries could still be served. */
  clear(): number {
    const now = this.#runtime.now()
    const entries = [...this.#records.values()].filter(({ entry }) => entry !== undefined && goneAt(entry) > now)
    this.#records.clear()
    this.#leases.clear()
    return entries.length
  }

  /**
   * Changes the entry itself: one that its tags have expired is the same write, and keeps its place and
   * its version.
   */
  #checkTags(entry: StoredEntry): StoredEntry | undefined {
    const expiry = this.tags.expiryOf(entry)
    if (expiry === undefined) return undefined
    if (expiry.expiredAt !== Infinity) {
      entry.freshUntil = freshUntilExpiry(entry, expiry.expiredAt)
      entry.expired = true
      Object.assign(entry, windowsUntil(entry, expiry.goneAt - entry.freshUntil))
    }
    entry.tagSeq = this.tags.sequence
    return entry
  }

  #keep(record: KeyRecord): void {
    // Before the old entry goes: a tag that both carry keeps its number.
    if (record.entry !== undefined) this.tags.add(record.entry.tags)
    this.#records.set(record)
    this.#sweeper.note(this.#expiryOf(record))
  }

  /** When nothing of the record counts any more, by `now()`. */
  #expiryOf({ entry, state }: KeyRecord): number {
    const gone = entry === undefined ? 0 : goneAt(entry)
    if (state === undefined) return gone
    return Math.max(gone, state.until + this.#runtime.now() - this.#runtime.elapsed())
  }
}

function overheadOf({ key, entry, state }: KeyRecord): number {
  const failure = state?.kind === 'cooling' ? heapSizeOf(state.failure) : 0
  return entryOverhead(key, entry?.tags ?? []) + failure
}

function goneAt({ freshUntil, staleWhileRevalidate, staleIfError }: Entry): number {
  return freshUntil + Math.max(staleWhileRevalidate, staleIfError)
}
