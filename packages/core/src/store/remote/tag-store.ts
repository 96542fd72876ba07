import { BoundedMap } from '../../bounded-map.ts'
import type { Codec } from '../../codec.ts'
import type { Entry } from '../../entry.ts'
import type { Runtime } from '../../runtime.ts'
import {
  type Away,
  awayBecause,
  type Found,
  type Notice,
  type Read,
  type Store,
  type TagsInvalidated,
} from '../store.ts'
import { type CallbackStore, catching, type OnRead, readFrom } from './callback-store.ts'
import { ForwardingStore } from './forwarding-store.ts'
import { addUser, removeUser } from './store-users.ts'

/** So many tags keep their number; the store is asked again for the others. */
const TAGS_KEPT = 5_000

interface TagNumber {
  readonly number: number
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
  readonly #numbers = new BoundedMap<string, TagNumber>(TAGS_KEPT)

  constructor(inner: Store, runtime: Runtime, maxAge: number) {
    addUser(inner)
    super(inner)
    this.#runtime = runtime
    this.#maxAge = maxAge
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead): void {
    const judge = catching(onRead, (read) => {
      if (read.kind !== 'found' || this.#isKnownValid(read.entry)) onRead(read)
      else void this.#confirm(read).then(onRead, (cause: unknown) => onRead(awayBecause(cause)))
    })
    readFrom(this.inner, key, codec, judge)
  }

  override async invalidateTags(tags: readonly string[]): Promise<TagsInvalidated> {
    // Before the answer, which may never come: the next read asks for the numbers again.
    for (const tag of tags) this.#numbers.delete(tag)
    const answer = await this.inner.invalidateTags(tags)
    if (answer.kind === 'done') this.#keep(tags, answer.tagSeq)
    return answer
  }

  override watch(listener: (notice: Notice) => void): () => void {
    return this.inner.watch((notice) => {
      if (notice.kind === 'tags') this.#keep(notice.tags, notice.tagSeq)
      else if (notice.kind === 'disconnected') this.#numbers.clear()
      listener(notice)
    })
  }

  override close(): Promise<void> {
    return removeUser(this.inner)
  }

  /** Asks the store. A kept number may be too high: the store may have lost the tag and numbered it anew. No load starts because of one unconfirmed. */
  async #confirm(read: Found): Promise<Read> {
    const valid = await this.#isValid(read.entry)
    if (typeof valid !== 'boolean') return valid
    return valid ? read : { kind: 'missing', version: read.entry.version }
  }

  #isKnownValid({ tags, tagSeq }: Entry): boolean {
    if (tags.length === 0) return true
    const now = this.#runtime.now()
    return tags.every((tag) => {
      const known = this.#numbers.get(tag)
      return known !== undefined && now < known.until && known.number <= tagSeq
    })
  }

  async #isValid({ tags, tagSeq }: Entry): Promise<boolean | Away> {
    const sentAt = this.#runtime.now()
    const answer = await this.inner.tagNumbers(tags)
    if (answer.kind === 'away') return answer
    for (const [index, tag] of tags.entries()) {
      const number = answer.numbers[index]
      if (number === undefined) this.#numbers.delete(tag)
      else this.#keep([tag], number, sentAt)
    }
    return answer.numbers.every((number) => number !== undefined && number <= tagSeq)
  }

  /** A tag's number never decreases: an answer that was under way during an invalidation must not undo its notice. */
  #keep(tags: readonly string[], number: number, since: number = this.#runtime.now()): void {
    for (const tag of tags) {
      const known = this.#numbers.get(tag)
      if (known === undefined || known.number <= number) {
        this.#numbers.set(tag, { number, until: since + this.#maxAge })
      }
    }
  }
}
