import { LRUCache } from 'lru-cache'
import type { Codec } from '../../codec.ts'
import type { Entry } from '../../entry.ts'
import type { Runtime } from '../../runtime.ts'
import { ForwardingStore, type OnRead, catching } from './forwarding-store.ts'
import { type Away, awayBecause, type Found, type Notice, type Read, type Store, type TagsFallen } from '../store.ts'

/** How many tags keep their number; the others are asked for again. */
const MOST_TAGS = 10_000

interface Known {
  readonly number: number
  /** From here on it is too old to judge by. */
  readonly until: number
}

/** Judges the tags of what a shared store returns, by numbers that are at most `maxAge` ms old. */
export function tagStore(store: Store, runtime: Runtime, maxAge: number): Store {
  return new TagStore(store, runtime, maxAge)
}

class TagStore extends ForwardingStore {
  readonly #runtime: Runtime
  readonly #maxAge: number
  readonly #known = new LRUCache<string, Known>({ max: MOST_TAGS })

  constructor(inner: Store, runtime: Runtime, maxAge: number) {
    super(inner)
    this.#runtime = runtime
    this.#maxAge = maxAge
  }

  override readWithCallback(key: string, codec: Codec, hear: OnRead): void {
    const judge = catching(hear, (read) => {
      if (read.kind !== 'found' || this.#knownToStand(read.entry)) hear(read)
      else void this.#confirm(read).then(hear, (cause: unknown) => hear(awayBecause(cause)))
    })
    super.readWithCallback(key, codec, judge)
  }

  override async invalidateTags(tags: readonly string[]): Promise<TagsFallen> {
    // Now, because an answer may never come: the numbers are asked for again.
    for (const tag of tags) this.#known.delete(tag)
    const answer = await this.inner.invalidateTags(tags)
    if (answer.kind === 'done') this.#note(tags, answer.tagSeq)
    return answer
  }

  override watch(listener: (notice: Notice) => void): () => void {
    return this.inner.watch((notice) => {
      if (notice.kind === 'tags') this.#note(notice.tags, notice.tagSeq)
      else if (notice.kind === 'disconnected') this.#known.clear()
      listener(notice)
    })
  }

  /** A number that is too great may be that of a tag that was forgotten and noted anew since: nobody loads for it unconfirmed. */
  async #confirm(read: Found): Promise<Read> {
    const stands = await this.#stands(read.entry)
    if (typeof stands !== 'boolean') return stands
    return stands ? read : { kind: 'missing', version: read.entry.version }
  }

  #knownToStand({ tags, tagSeq }: Entry): boolean {
    if (tags.length === 0) return true
    const now = this.#runtime.now()
    return tags.every((tag) => {
      const known = this.#known.get(tag)
      return known !== undefined && now < known.until && known.number <= tagSeq
    })
  }

  async #stands({ tags, tagSeq }: Entry): Promise<boolean | Away> {
    const sentAt = this.#runtime.now()
    const answer = await this.inner.tagNumbers(tags)
    if (answer.kind === 'away') return answer
    for (const [place, tag] of tags.entries()) {
      const number = answer.numbers[place]
      if (number === undefined) this.#known.delete(tag)
      else this.#note([tag], number, sentAt)
    }
    return answer.numbers.every((number) => number !== undefined && number <= tagSeq)
  }

  /** A number never falls: an answer that was under way while the tag fell must not undo what the notice said. */
  #note(tags: readonly string[], number: number, since: number = this.#runtime.now()): void {
    for (const tag of tags) {
      const known = this.#known.get(tag)
      if (known === undefined || known.number <= number) this.#known.set(tag, { number, until: since + this.#maxAge })
    }
  }
}
