import { BoundedMap } from '../../maps/bounded-map.ts'
import type { Codec } from '../../codec/codec.ts'
import type { Entry } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import {
  type Away,
  awayBecause,
  type Found,
  type Inspection,
  type Read,
  type TagNumber,
  type TagsInvalidated,
} from '../answers.ts'
import type { Notice, ReadTerms } from '../store.ts'
import { expireAt, judgeTags, tagExpiry } from '../tag-expiry.ts'
import { type CallbackStore, catching, type OnRead } from './callback-store.ts'
import { ForwardingStore } from './forwarding-store.ts'

/** The number of tags whose number is kept; the store is asked again for the others. */
const TAGS_KEPT = 5_000

interface KnownTag extends TagNumber {
  /** When the store was asked for it, or told it. */
  readonly knownAt: number
  /** When the latest part of it became known: `knownAt`, or the moment of a notice. */
  readonly noticedAt: number
  /** From here on it is too old to judge by, while the store answers. */
  readonly until: number
}

/**
 * How old the numbers may be by which tags are judged, ms: `maxAge` while the store tells them,
 * `outageMaxAge` while it does not.
 */
export interface TagLimits {
  readonly maxAge: number
  readonly outageMaxAge: number
}

/**
 * Judges the tags of the entries that a shared store returns, by numbers that are at most `maxAge` ms old.
 * The numbers may be on another node than the entry: while that node alone is away, entries are judged by the
 * numbers known before, as copies are served in an outage.
 */
export function tagStore(store: CallbackStore, runtime: Runtime, limits: TagLimits): CallbackStore {
  return new TagStore(store, runtime, limits)
}

class TagStore extends ForwardingStore<CallbackStore> {
  readonly #runtime: Runtime
  readonly #limits: TagLimits
  readonly #numbers = new BoundedMap<string, KnownTag>(TAGS_KEPT)
  /**
   * An invalidation may have gone unnoticed then: each number known before is asked for again before
   * it counts.
   */
  #disconnectedAt = -Infinity

  constructor(inner: CallbackStore, runtime: Runtime, limits: TagLimits) {
    super(inner)
    this.#runtime = runtime
    this.#limits = limits
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead, terms?: ReadTerms): void {
    const sentAt = terms?.since ?? this.#runtime.elapsed()
    const judge = catching(onRead, (read) => {
      const entry = read.kind === 'found' ? this.#judgeByKnown(read.entry) : undefined
      if (read.kind !== 'found' || entry === read.entry) onRead(read)
      else if (entry !== undefined) onRead({ kind: 'found', entry })
      else void this.#confirm(read, sentAt).then(onRead, (cause: unknown) => onRead(awayBecause(cause)))
    })
    this.inner.readWithCallback(key, codec, judge, terms)
  }

  override async inspect(key: string): Promise<Inspection | Away> {
    const answer = await this.inner.inspect(key)
    if (answer.kind === 'away' || answer.entry === undefined || answer.entry.tags.length === 0) return answer
    const { tags, tagSeq } = answer.entry
    const known = await this.inner.tagNumbers(tags)
    if (known.kind === 'away') return known
    const entry = judgeTags(answer.entry, known.numbers)
    if (entry !== undefined) return { ...answer, entry }
    const invalidatedTags = tags.filter((_, index) => (known.numbers[index]?.invalidated ?? Infinity) > tagSeq)
    return { ...answer, entry, invalidatedTags }
  }

  override async invalidateTags(
    tags: readonly string[],
    how: 'delete' | 'expire',
    deleteAfter?: number,
  ): Promise<TagsInvalidated> {
    // Before the answer, which may never come: the next read asks for the numbers again.
    for (const tag of tags) this.#numbers.delete(tag)
    const answer = await this.inner.invalidateTags(tags, how, deleteAfter)
    if (answer.kind === 'done') this.#note(tags, answer.tagSeq, how)
    return answer
  }

  override watch(listener: (notice: Notice) => void): () => void {
    return this.inner.watch((notice) => {
      if (notice.kind === 'tags') this.#note(notice.tags, notice.tagSeq, notice.how)
      else if (notice.kind === 'disconnected' && notice.part === undefined) this.#disconnectedAt = this.#runtime.now()
      listener(notice)
    })
  }

  /**
   * The entry by the numbers that this process knows. Undefined if those do not suffice, or would make
   * it unusable.
   */
  #judgeByKnown(entry: Entry): Entry | undefined {
    if (entry.tags.length === 0) return entry
    const now = this.#runtime.now()
    return expireAt(
      entry,
      tagExpiry(entry, (tag) =>
        this.#known(tag, ({ knownAt, until }) => now < until && knownAt > this.#disconnectedAt),
      ),
    )
  }

  /**
   * Asks the store. A kept number may be too high: the store may have lost the tag and numbered it anew. No
   * load starts because of one unconfirmed.
   */
  async #confirm({ entry }: Found, since: number): Promise<Read> {
    const sentAt = this.#runtime.now()
    const answer = await this.inner.tagNumbers(entry.tags, since)
    if (answer.kind === 'away') return this.#judgeInOutage(entry, answer)
    for (const [index, tag] of entry.tags.entries()) {
      const number = answer.numbers[index]
      if (number === undefined) this.#numbers.delete(tag)
      else this.#keep(tag, { ...number, knownAt: sentAt, noticedAt: sentAt, until: sentAt + this.#limits.maxAge })
    }
    const judged = judgeTags(entry, answer.numbers)
    return judged === undefined ? { kind: 'missing', version: entry.version } : { kind: 'found', entry: judged }
  }

  /** The entry by numbers that were known lately: nobody can invalidate a tag while its node is away. */
  #judgeInOutage(entry: Entry, away: Away): Read {
    const since = this.#runtime.now() - this.#limits.outageMaxAge
    const judged = expireAt(
      entry,
      tagExpiry(entry, (tag) => this.#known(tag, ({ knownAt }) => knownAt > since)),
    )
    return judged === undefined ? away : { kind: 'found', entry: judged }
  }

  #known(tag: string, isRecent: (number: KnownTag) => boolean): KnownTag | undefined {
    const number = this.#numbers.get(tag)
    return number !== undefined && isRecent(number) ? number : undefined
  }

  /** Notes an invalidation. The moment of an expiry is the store's to tell: the next read asks for it. */
  #note(tags: readonly string[], tagSeq: number, how: 'delete' | 'expire'): void {
    const now = this.#runtime.now()
    for (const tag of tags) {
      const { invalidated = 0, knownAt = -Infinity } = this.#numbers.get(tag) ?? {}
      if (how === 'delete')
        this.#keep(tag, {
          invalidated: tagSeq,
          expired: 0,
          expiredAt: 0,
          goneAt: Infinity,
          knownAt: now,
          noticedAt: now,
          until: now + this.#limits.maxAge,
        })
      else {
        const expired = { invalidated, expired: tagSeq, expiredAt: now, goneAt: Infinity }
        this.#keep(tag, { ...expired, knownAt, noticedAt: now, until: now })
      }
    }
  }

  /**
   * An answer that was under way during an invalidation must not undo its notice. One that was asked for
   * later replaces any number: a notice may come from another database of the server, because messages reach
   * all of them.
   */
  #keep(tag: string, number: KnownTag): void {
    const known = this.#numbers.get(tag)
    if (known === undefined || lastOf(known) <= lastOf(number) || known.noticedAt < number.noticedAt)
      this.#numbers.set(tag, number)
  }
}

function lastOf({ invalidated, expired }: TagNumber): number {
  return Math.max(invalidated, expired)
}
