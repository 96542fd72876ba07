import { type Entry, EXPIRED_BY_HAND, makeEntry, type NewEntry, type Version, writtenEntry } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { entryOverhead, heapSizeOf } from '../heap-size.ts'
import { HitLru, LruNode } from '../hit-lru.ts'
import { Sweeper } from '../sweeper.ts'
import { freshUntilExpiry } from '../tag-expiry.ts'
import type { KeyState } from './key-state.ts'
import { StandingTags } from './standing-tags.ts'

interface TableEntry extends Entry {
  /** Raised to the current sequence whenever the entry's tags are checked: until the sequence moves on, a hit does not check them again. */
  tagSeq: number
  freshUntil: number
  expired: boolean
}

/** The entry and the state of a key, in one record: both live and are evicted together, and count once among `maxEntries`. */
class KeyRecord extends LruNode {
  readonly entry: TableEntry | undefined
  readonly state: KeyState | undefined

  constructor(key: string, entry: TableEntry | undefined, state: KeyState | undefined) {
    super(key)
    this.entry = entry
    this.state = state
  }
}

/** The keys of a memory store: their entries, judged by their tags and windows, and the state beside each. */
export class EntryTable {
  readonly tags: StandingTags
  readonly #runtime: Runtime
  readonly #records: HitLru<KeyRecord>
  readonly #sweeper: Sweeper<KeyRecord>
  #writes = 0

  /** `countsOverhead`: `maxBytes` also bounds what is kept beside the values. */
  constructor(runtime: Runtime, maxEntries: number, maxBytes: number, countsOverhead: boolean) {
    this.tags = new StandingTags(maxEntries)
    this.#runtime = runtime
    this.#records = new HitLru({
      maxEntries,
      maxBytes,
      sizeOf: (record) => (countsOverhead ? overheadOf(record) + (record.entry?.size ?? 0) : (record.entry?.size ?? 1)),
      onRemove: ({ entry }) => {
        if (entry !== undefined) this.tags.remove(entry.tags)
      },
    })
    this.#sweeper = new Sweeper(this.#records, runtime, expiryOf)
  }

  /** Stops removing expired entries in the background until the next one is written. */
  stopSweep(): void {
    this.#sweeper.stop()
  }

  /** The entry, unless one of its tags was invalidated; its windows are not judged. */
  peek(key: string): Entry | undefined {
    const record = this.#records.hit(key)
    return record === undefined ? undefined : this.#ifTagsValid(record)
  }

  /** The entry, while it may still be served. */
  live(key: string): Entry | undefined {
    const entry = this.peek(key)
    return entry === undefined || goneAt(entry) <= this.#runtime.now() ? undefined : entry
  }

  /** The state of the key, which does not count as a use. */
  stateOf(key: string, now: number): KeyState | undefined {
    const state = this.#records.peek(key)?.state
    return state !== undefined && state.until > now ? state : undefined
  }

  /** The state of the key, ended or not, for its holder: a key whose lease is renewed or ended is in use, and must not be evicted. */
  touchState(key: string): KeyState | undefined {
    return this.#records.hit(key)?.state
  }

  /** Keeps the live entry and replaces the state beside it. */
  setState(key: string, state: KeyState | undefined): void {
    this.#set(key, this.live(key), state)
  }

  /** Writes an entry, which ends the state of its key. */
  write(key: string, written: NewEntry, tagSeq: number, size: number): Version {
    this.#writes += 1
    const version = String(this.#writes)
    this.#set(key, writtenEntry(written, { version, tagSeq, size }, this.#runtime.now()), undefined)
    return version
  }

  /** Removes the entry. */
  remove(key: string, state: KeyState | undefined): void {
    this.#set(key, undefined, state)
  }

  /** Makes the entry stale, whatever its ttl; without a stale window it is removed. */
  expire(key: string, now: number, state: KeyState | undefined): void {
    const entry = this.live(key)
    this.#set(key, entry === undefined ? undefined : expireByHand(entry, now), state)
  }

  /** Removes everything, and returns how many entries could still be served. */
  clear(): number {
    const now = this.#runtime.now()
    const entries = [...this.#records.values()].filter(({ entry }) => entry !== undefined && goneAt(entry) > now)
    this.#records.clear()
    return entries.length
  }

  #ifTagsValid({ entry }: KeyRecord): TableEntry | undefined {
    return entry === undefined || entry.tagSeq === this.tags.sequence ? entry : this.#checkTags(entry)
  }

  /** Changes the entry itself: one that its tags have expired is the same write, and keeps its place and its version. */
  #checkTags(entry: TableEntry): TableEntry | undefined {
    const moment = this.tags.expiryOf(entry)
    if (moment === undefined) return undefined
    if (moment !== Infinity) {
      entry.freshUntil = freshUntilExpiry(entry, moment)
      entry.expired = true
    }
    entry.tagSeq = this.tags.sequence
    return entry
  }

  #set(key: string, entry: Entry | undefined, state: KeyState | undefined): void {
    // Before the old entry goes: a tag that both carry keeps its number.
    if (entry !== undefined) this.tags.add(entry.tags)
    if (entry === undefined && state === undefined) this.#records.delete(key)
    else this.#keep(new KeyRecord(key, entry, state))
  }

  #keep(record: KeyRecord): void {
    this.#records.set(record)
    this.#sweeper.note(expiryOf(record))
  }
}

function overheadOf({ key, entry, state }: KeyRecord): number {
  const failure = state?.kind === 'cooling' ? heapSizeOf(state.failure) : 0
  return entryOverhead(key, entry?.tags ?? []) + failure
}

/** A lease has none: it is its holder's until that ends it, or another caller takes it. */
function expiryOf({ entry, state }: KeyRecord): number {
  if (state?.kind === 'lease') return Infinity
  return Math.max(entry === undefined ? 0 : goneAt(entry), state?.until ?? 0)
}

function goneAt({ freshUntil, staleWhileRevalidate, staleIfError }: Entry): number {
  return freshUntil + Math.max(staleWhileRevalidate, staleIfError)
}

function expireByHand(entry: Entry, now: number): Entry | undefined {
  if (entry.staleWhileRevalidate === 0 && entry.staleIfError === 0) return undefined
  const freshUntil = Math.min(entry.freshUntil, Math.floor(now))
  return makeEntry(entry, { ...entry, version: EXPIRED_BY_HAND, expired: true, freshUntil }, 'store')
}
