import type { Codec } from '../../codec.ts'
import { copyOf, type Entry, deepFreeze } from '../../entry.ts'
import type { CopyLimits } from './remote-limits.ts'
import { HitLru, LruNode } from '../hit-lru.ts'
import type { Notice } from '../store.ts'
import { TagNumbers } from '../tag-numbers.ts'

/** How many tags are remembered to have fallen; one that was forgotten takes more copies with it than it must. */
const MOST_TAGS = 10_000
/** How many keys are remembered to have been dropped; with one that was forgotten, more reads under way are kept out than must be. */
const MOST_KEYS = 10_000
/** Of the newcomers to a full house, every so many is let in. */
const LET_IN = 16
/** What a copy weighs beside its value, in bytes. */
const OVERHEAD = 256

class Copy extends LruNode {
  readonly entry: Entry
  readonly codec: Codec
  /** Not to be used from here on: all that is known of the store's present is from when it was asked for last. */
  until: number
  /** How many tags had fallen, as this process counts, when its own were last found to stand: first when it was asked for. */
  judgedAt: number

  constructor(key: string, entry: Entry, codec: Codec, until: number, judgedAt: number) {
    super(key)
    this.entry = entry
    this.codec = codec
    this.until = until
    this.judgedAt = judgedAt
  }
}

/** A read under way, which an invalidation may overtake: where everything stood when it was sent. */
export interface ReadSnapshot {
  readonly key: string
  readonly askedAt: number
  readonly tagSeq: number
  readonly dropSeq: number
  readonly epoch: number
}

/**
 * Copies of a remote store's entries in this process. Arrival decides what may become one, never the order of versions: whatever was asked
 * for before an invalidation was heard of is not kept.
 *
 * 1. a read is sent      2. the key is deleted, and this process hears of it      3. the read's answer arrives: the deleted entry
 */
export class LocalCopies {
  readonly #kept: HitLru<Copy>
  readonly #maxAge: number
  readonly #freeze: boolean
  readonly #fallen = new TagNumbers(MOST_TAGS)
  /** The keys that were dropped, numbered as tags are: nothing is to be kept of reads, so nothing has to be taken away after each. */
  readonly #dropped = new TagNumbers(MOST_KEYS)
  #epoch = 0
  #newcomers = 0

  constructor({ maxEntries, maxBytes, maxAge, freeze }: CopyLimits) {
    this.#maxAge = maxAge
    this.#freeze = freeze
    this.#kept = new HitLru({
      maxEntries,
      maxBytes,
      sizeOf: ({ entry, key }) => entry.size + textSize([key, ...entry.tags]) + OVERHEAD,
    })
  }

  get(key: string, codec: Codec, now: number): Entry | undefined {
    const copy = this.#kept.hit(key)
    if (copy === undefined || copy.codec !== codec || now >= copy.until) return undefined
    return copy.judgedAt === this.#fallen.sequence ? copy.entry : this.#judged(copy)
  }

  /** The entry, unless one of its tags has fallen. */
  #judged(copy: Copy): Entry | undefined {
    if (this.#fallen.invalidatedSince(copy.entry.tags, copy.judgedAt)) return undefined
    copy.judgedAt = this.#fallen.sequence
    return copy.entry
  }

  /** A read is about to be sent. */
  begin(key: string, now: number): ReadSnapshot {
    return {
      key,
      askedAt: now,
      tagSeq: this.#fallen.sequence,
      dropSeq: this.#dropped.sequence,
      epoch: this.#epoch,
    }
  }

  /** Keeps what was read, as a copy of this kind, unless an invalidation has overtaken it; undefined: there is nothing to keep any more. */
  end(reading: ReadSnapshot, entry: Entry | undefined, codec: Codec, from: Entry['from']): void {
    const { key, askedAt, tagSeq } = reading
    if (this.#invalidatedSince(reading)) return
    if (entry === undefined) {
      this.#kept.delete(key)
      return
    }
    if (this.#freeze) deepFreeze(entry.value)
    const until = Math.floor(askedAt) + this.#maxAge
    // A read is a use, also of a copy that nobody needs as long as the store answers.
    const copy = this.#kept.hit(key)
    if (copy?.codec === codec && isSame(copy.entry, entry, from)) {
      copy.until = until
      copy.judgedAt = tagSeq
      return
    }
    // An object of its own: if the entries that readers make were kept, V8 would come to make all of them in the old generation.
    this.#kept.set(new Copy(key, copyOf(entry, from), codec, until, tagSeq))
  }

  /**
   * The same for copies that may never be needed. Where more keys are read in turn than there is room for, each copy would be gone before
   * its key comes round again, and each hit would pay for keeping one: so few newcomers get in, the sooner the more they are read.
   */
  offer(reading: ReadSnapshot, entry: Entry | undefined, codec: Codec): void {
    if (entry === undefined || this.#kept.peek(reading.key) !== undefined || this.#letsIn(entry))
      this.end(reading, entry, codec, 'store')
  }

  drop(key: string): void {
    this.#kept.delete(key)
    this.#dropped.fall([key])
  }

  dropTags(tags: readonly string[]): void {
    this.#fallen.fall(tags)
  }

  dropAll(): void {
    this.#epoch += 1
    this.#kept.clear()
  }

  /** What the store tells of any process. */
  onNotice(notice: Notice): void {
    if ('key' in notice) this.drop(notice.key)
    else if (notice.kind === 'tags') this.dropTags(notice.tags)
    else if (notice.kind === 'cleared') this.dropAll()
  }

  #letsIn({ size }: Entry): boolean {
    if (this.#kept.hasRoom(size + OVERHEAD)) return true
    this.#newcomers = (this.#newcomers + 1) % LET_IN
    return this.#newcomers === 0
  }

  #invalidatedSince({ key, dropSeq, epoch }: ReadSnapshot): boolean {
    return epoch !== this.#epoch || (dropSeq !== this.#dropped.sequence && this.#dropped.of(key) > dropSeq)
  }
}

/**
 * Whether the store has told the same again: what is kept then lives on, since values that replace one another at every hit would be more
 * work for the garbage collector than the hit. What was expired by hand, or loaded in an outage, has no version of its own.
 */
function isSame(kept: Entry, entry: Entry, from: Entry['from']): boolean {
  if (entry.expired || kept.from !== from || from === 'outage') return false
  return kept.version === entry.version && kept.freshUntil === entry.freshUntil
}

function textSize(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + 2 * text.length, 0)
}
