import { BoundedMap } from '../../bounded-map.ts'
import type { Codec } from '../../codec/codec.ts'
import type { Entry } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import {
  type Away,
  awayBecause,
  type Found,
  type Inspection,
  type Notice,
  type Read,
  type Store,
  type TagNumber,
  type TagsInvalidated,
} from '../store.ts'
import { expireAt, judgeTags, tagExpiry } from '../tag-expiry.ts'
import { type CallbackStore, catching, type OnRead, readFrom } from './callback-store.ts'
import { ForwardingStore } from './forwarding-store.ts'
import { addUser, removeUser } from './store-users.ts'

/** So many tags keep their number; the store is asked again for the others. */
const TAGS_KEPT = 5_000

interface KnownTag extends TagNumber {
  /** From here on it is too old to judge by. */
  readonly until: number
}

/**
 * Judges the tags of the entries that a shared store returns, by numbers that are at most `maxAge` ms old. The innermost decorator: it counts the
 * caches that use the store.
 *
 * @throws InvalidOptionError for a closed store.
 */
export function tagStore(store: Store, runtime: Runtime, maxAge: number): CallbackStore {
  return new TagStore(store, runtime, maxAge)
}

class TagStore extends ForwardingStore<Store> {
  readonly #runtime: Runtime
  readonly #maxAge: number
  readonly #numbers = new BoundedMap<string, KnownTag>(TAGS_KEPT)

  constructor(inner: Store, runtime: Runtime, maxAge: number) {
    addUser(inner)
    super(inner)
    this.#runtime = runtime
    this.#maxAge = maxAge
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead): void {
    const judge = catching(onRead, (read) => {
      const entry = read.kind === 'found' ? this.#judgeByKnown(read.entry) : undefined
      if (read.kind !== 'found' || entry === read.entry) onRead(read)
      else if (entry !== undefined) onRead({ kind: 'found', entry })
      else void this.#confirm(read).then(onRead, (cause: unknown) => onRead(awayBecause(cause)))
    })
    readFrom(this.inner, key, codec, judge)
  }

  override async inspect(key: string): Promise<Inspection | Away> {
    const answer = await this.inner.inspect(key)
    if (answer.kind === 'away' || answer.entry === undefined || answer.entry.tags.length === 0) return answer
    const known = await this.inner.tagNumbers(answer.entry.tags)
    return known.kind === 'away' ? known : { ...answer, entry: judgeTags(answer.entry, known.numbers) }
  }

  override async invalidateTags(tags: readonly string[], how: 'delete' | 'expire'): Promise<TagsInvalidated> {
    // Before the answer, which may never come: the next read asks for the numbers again.
    for (const tag of tags) this.#numbers.delete(tag)
    const answer = await this.inner.invalidateTags(tags, how)
    if (answer.kind === 'done') this.#note(tags, answer.tagSeq, how)
    return answer
  }

  override watch(listener: (notice: Notice) => void): () => void {
    return this.inner.watch((notice) => {
      if (notice.kind === 'tags') this.#note(notice.tags, notice.tagSeq, notice.how)
      else if (notice.kind === 'disconnected') this.#numbers.clear()
      listener(notice)
    })
  }

  override close(): Promise<void> {
    return removeUser(this.inner)
  }

  /** The entry by the numbers that this process knows. Undefined if those do not suffice, or would make it unusable. */
  #judgeByKnown(entry: Entry): Entry | undefined {
    if (entry.tags.length === 0) return entry
    const now = this.#runtime.now()
    const known = (tag: string): KnownTag | undefined => {
      const number = this.#numbers.get(tag)
      return number !== undefined && now < number.until ? number : undefined
    }
    return expireAt(entry, tagExpiry(entry, known))
  }

  /** Asks the store. A kept number may be too high: the store may have lost the tag and numbered it anew. No load starts because of one unconfirmed. */
  async #confirm({ entry }: Found): Promise<Read> {
    const sentAt = this.#runtime.now()
    const answer = await this.inner.tagNumbers(entry.tags)
    if (answer.kind === 'away') return answer
    for (const [index, tag] of entry.tags.entries()) {
      const number = answer.numbers[index]
      if (number === undefined) this.#numbers.delete(tag)
      else this.#keep(tag, { ...number, until: sentAt + this.#maxAge })
    }
    const judged = judgeTags(entry, answer.numbers)
    return judged === undefined ? { kind: 'missing', version: entry.version } : { kind: 'found', entry: judged }
  }

  /** Notes an invalidation. The moment of an expiry is the store's to tell: the next read asks for it. */
  #note(tags: readonly string[], tagSeq: number, how: 'delete' | 'expire'): void {
    const now = this.#runtime.now()
    for (const tag of tags) {
      if (how === 'delete')
        this.#keep(tag, { invalidated: tagSeq, expired: 0, expiredAt: 0, until: now + this.#maxAge })
      else this.#keep(tag, { invalidated: 0, expired: tagSeq, expiredAt: now, until: now })
    }
  }

  /** A tag's last number never decreases: an answer that was under way during an invalidation must not undo its notice. */
  #keep(tag: string, number: KnownTag): void {
    const known = this.#numbers.get(tag)
    if (known === undefined || lastOf(known) <= lastOf(number)) this.#numbers.set(tag, number)
  }
}

function lastOf({ invalidated, expired }: TagNumber): number {
  return Math.max(invalidated, expired)
}
