import { type Codec, isSameCodec } from '../../codec/codec.ts'
import { deepFreeze, type Entry } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { entryOverhead, heapSizeOf } from '../heap-size.ts'
import { HitLru } from '../hit-lru.ts'
import type { Notice } from '../store.ts'
import { Sweeper } from '../sweeper.ts'
import { InvalidationLog } from '../../maps/invalidation-log.ts'
import { LocalCopy } from './local-copy.ts'
import type { CopyLimits } from './remote-limits.ts'

/** The invalidated tags whose number is kept; a forgotten one drops more copies than it must. */
const TAGS_KEPT = 5_000
/**
 * The dropped keys whose number is kept; a forgotten one keeps the answers of more reads out than it must.
 */
const KEYS_KEPT = 5_000
/** Once the copies are full, one new key in this number is admitted. */
const ADMIT_ONE_IN = 16

/**
 * The state of the invalidations when a read was sent, or a load began: one that arrives later overtakes it.
 */
export class InvalidationSnapshot {
  readonly key: string
  readonly sentAt: number
  readonly tagSeq: number
  readonly dropSeq: number
  readonly epoch: number

  constructor(key: string, sentAt: number, tagSeq: number, dropSeq: number, epoch: number) {
    this.key = key
    this.sentAt = sentAt
    this.tagSeq = tagSeq
    this.dropSeq = dropSeq
    this.epoch = epoch
  }

  /** The same state, for a copy whose age counts from `sentAt`. */
  withSentAt(sentAt: number): InvalidationSnapshot {
    return new InvalidationSnapshot(this.key, sentAt, this.tagSeq, this.dropSeq, this.epoch)
  }
}

/**
 * Copies of a remote store's entries in this process. The order of arrival decides what may become one, never
 * the order of versions: the answer of a read that was sent before an invalidation arrived is not kept.
 *
 * 1. a read is sent      2. the key is deleted, and the notice arrives      3. the read's answer arrives: the deleted entry
 */
export class LocalCopies {
  readonly #copies: HitLru<LocalCopy>
  readonly #sweeper: Sweeper<LocalCopy>
  readonly #keeps: boolean
  readonly #maxAge: number
  readonly #freeze: boolean
  readonly #tags = new InvalidationLog(TAGS_KEPT)
  /** Kept in a log: a read in flight needs no record of its own that would have to be removed after it. */
  readonly #droppedKeys = new InvalidationLog(KEYS_KEPT)
  /** Raised by `dropAll` and `dropWhere`. */
  #epoch = 0
  #refused = 0

  constructor(runtime: Runtime, { maxEntries, maxBytes, maxAge, freeze }: CopyLimits) {
    this.#keeps = maxEntries > 0
    this.#maxAge = maxAge
    this.#freeze = freeze
    this.#copies = new HitLru({
      maxEntries,
      maxBytes,
      sizeOf: ({ key, tags, kept, value }) => entryOverhead(key, tags) + heapSizeOf(kept ?? value),
    })
    this.#sweeper = new Sweeper(this.#copies, runtime, ({ until }) => until)
  }

  /** The copy of the key, with one value for all hits. */
  peek(key: string, codec: Codec, now: number): Entry | undefined {
    const copy = this.#hit(key, codec, now)
    return copy?.kept === undefined ? copy : this.#ifDecodable(copy, () => this.#decodeForAll(copy))
  }

  /** The copy of the key, with a value of this caller's own. */
  get(key: string, codec: Codec, now: number): Entry | undefined {
    const copy = this.#hit(key, codec, now)
    return copy && this.#ifDecodable(copy, () => copy.decoded(codec))
  }

  /** Call it when a read is about to be sent, and `keep` or `offer` with its answer. */
  begin(key: string, now: number): InvalidationSnapshot {
    return new InvalidationSnapshot(key, now, this.#tags.sequence, this.#droppedKeys.sequence, this.#epoch)
  }

  /**
   * True when an invalidation has arrived since the snapshot that concerns its key, whichever tags that has.
   */
  isOvertaken({ key, dropSeq, epoch }: InvalidationSnapshot): boolean {
    return epoch !== this.#epoch || this.#droppedKeys.notedSince(key, dropSeq)
  }

  /**
   * Keeps the answer of a read as a copy, unless an invalidation has overtaken it. `entry` undefined: the key
   * has none any more.
   */
  keep(snapshot: InvalidationSnapshot, entry: Entry | undefined, codec: Codec, from: Entry['from']): void {
    const { key, sentAt, tagSeq } = snapshot
    if (!this.#keeps || this.isOvertaken(snapshot)) return
    if (entry === undefined) return this.#forget(key)
    const until = Math.floor(sentAt) + this.#maxAge
    // A read counts as a use, even of a copy that is not needed while the store answers.
    const copy = this.#copies.hit(key)
    if (copy !== undefined && isSameCodec(copy.codec, codec) && isSame(copy, entry, from)) {
      copy.until = until
      copy.validSeq = tagSeq
      return
    }
    if (this.#freeze && entry.encoded === undefined) deepFreeze(entry.value)
    this.#copies.set(new LocalCopy(entry, { key, codec, from, until, validSeq: tagSeq }))
    this.#sweeper.note(until)
  }

  /**
   * As `keep`, for copies that may never be needed. Where more keys are read in turn than there is room for,
   * each copy would be evicted before its key is read again, and each hit would pay for keeping one. So few
   * new keys are admitted: the more often a key is read, the sooner.
   */
  offer(snapshot: InvalidationSnapshot, entry: Entry | undefined, codec: Codec): void {
    if (entry === undefined || this.#copies.peek(snapshot.key) !== undefined || this.#admits())
      this.keep(snapshot, entry, codec, 'store')
  }

  drop(key: string): void {
    this.#copies.delete(key)
    this.#droppedKeys.note([key])
  }

  dropTags(tags: readonly string[]): void {
    this.#tags.note(tags)
  }

  dropAll(): void {
    this.#epoch += 1
    this.#copies.clear()
    this.#sweeper.stop()
  }

  /**
   * Changes of these keys may have gone unnoticed: drops their copies, and keeps no answer of a read
   * under way.
   */
  dropWhere(isAffected: (key: string) => boolean): void {
    this.#epoch += 1
    for (const { key } of this.#copies.values()) if (isAffected(key)) this.#copies.delete(key)
  }

  /** Drops the copies that a change at the store, by any process, has made wrong. */
  onNotice(notice: Notice): void {
    if ('key' in notice) this.drop(notice.key)
    else if (notice.kind === 'tags') this.dropTags(notice.tags)
    else if (notice.kind === 'cleared') this.dropAll()
  }

  /** Undefined when the copy is too old, was read with another codec, or one of its tags was invalidated. */
  #hit(key: string, codec: Codec, now: number): LocalCopy | undefined {
    const copy = this.#copies.hit(key)
    if (copy === undefined || !isSameCodec(copy.codec, codec) || now >= copy.until) return undefined
    return copy.validSeq === this.#tags.sequence ? copy : this.#checkTags(copy)
  }

  #decodeForAll(copy: LocalCopy): Entry {
    copy.decode()
    if (this.#freeze) deepFreeze(copy.value)
    // Weighs it again: its value takes more room than its bytes.
    this.#copies.set(copy)
    return copy
  }

  /** A codec that decoded the bytes once may fail now: the copy then counts as missing. */
  #ifDecodable({ key }: LocalCopy, decode: () => Entry): Entry | undefined {
    try {
      return decode()
    } catch {
      this.#forget(key)
      return undefined
    }
  }

  #forget(key: string): void {
    this.#copies.delete(key)
  }

  #checkTags(copy: LocalCopy): LocalCopy | undefined {
    if (this.#tags.anyNotedSince(copy.tags, copy.validSeq)) return undefined
    copy.validSeq = this.#tags.sequence
    return copy
  }

  #admits(): boolean {
    if (this.#copies.hasRoom()) return true
    this.#refused = (this.#refused + 1) % ADMIT_ONE_IN
    return this.#refused === 0
  }
}

/**
 * True when the store returned the same entry again: its copy then stays, since copies that replace one
 * another at every hit cost the garbage collector more than the hit. An entry that was loaded in an outage
 * has no version of its own.
 */
function isSame(copy: Entry, entry: Entry, from: Entry['from']): boolean {
  if (copy.from !== from || from === 'outage') return false
  return copy.version === entry.version && copy.freshUntil === entry.freshUntil && copy.expired === entry.expired
}
