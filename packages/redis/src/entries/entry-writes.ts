import type { Codec } from '@cattlegrid/core'
import { type Done, type NewEntry, NO_VERSION, type Put, type TagsInvalidated } from '@cattlegrid/core/extend'
import type { PutTerms, StepParts } from '../lua/scripts.ts'
import { numberedTagsOf, type TagSequence } from '../tags/tag-sequence.ts'
import { encodeEntry } from './encode-entry.ts'
import { type EncodedRecord, NO_FENCE } from './record.ts'

/** How long the caller of a put waits. */
export type PutLimits = Pick<PutTerms, 'within' | 'isAbandoned'>

/**
 * The writes and invalidations that need no lease. A write and a key invalidation void the lease that
 * is held.
 */
export class EntryWrites {
  readonly #parts: StepParts
  readonly #tags: TagSequence
  /** By key, the latest put without an answer, unless a later step of this process overwrites it. */
  readonly #unfinished = new Map<string, object>()

  constructor(parts: StepParts, tags: TagSequence) {
    this.#parts = parts
    this.#tags = tags
  }

  /** The value exists already, so only a tag invalidation from now on voids it. */
  put(key: string, entry: NewEntry, codec: Codec, limits: PutLimits): Promise<Put> {
    const put = {}
    this.#unfinished.set(key, put)
    const isLatest = (): boolean => this.#unfinished.get(key) === put
    const terms = { ...limits, maySendAgain: isLatest }
    const writing = this.#parts.steps.run(async () => {
      const inTwoSteps = this.#parts.link.nodes !== undefined && entry.tags.length > 0
      if (inTwoSteps) return await this.#putAfterTags(key, entry, codec, terms)
      const record = encodeEntry(entry, codec, NO_FENCE, 0)
      if ('kind' in record) return record
      const tags = entry.tags.length > 0 ? numberedTagsOf(entry) : undefined
      return await this.#write(key, record, { ...terms, tags })
    })
    return writing.finally(() => {
      if (isLatest()) this.#unfinished.delete(key)
    })
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    this.#unfinished.delete(key)
    const { scripts, steps } = this.#parts
    return steps.done(() => scripts.invalidate(key, how, holdOff))
  }

  invalidateTags(tags: readonly string[], how: 'delete' | 'expire', deleteAfter?: number): Promise<TagsInvalidated> {
    const { scripts, steps } = this.#parts
    return steps.run(async () => ({ kind: 'done', tagSeq: await scripts.invalidateTags(tags, how, deleteAfter) }))
  }

  /** Call it when every entry is removed. */
  dropUnfinished(): void {
    this.#unfinished.clear()
  }

  /**
   * No script reaches both the tags and the entry of a cluster. So the tags come first, and the entry only if
   * this process has not written or invalidated the key meanwhile, and if the caller still waits:
   *
   * 1. A puts: the tags get their numbers     2. A deletes the key: done     3. without this check, A would write the entry
   */
  async #putAfterTags(key: string, entry: NewEntry, codec: Codec, terms: PutTerms): Promise<Put> {
    const { sequence } = await this.#tags.noteTagsOf(entry)
    // Overwritten by the later step, as if this put had been executed before it.
    if (!terms.maySendAgain()) return { kind: 'stored', version: NO_VERSION }
    if (terms.isAbandoned?.() === true) throw new Error('Not written: the tags were numbered too late')
    const record = encodeEntry(entry, codec, NO_FENCE, sequence)
    return 'kind' in record ? record : await this.#write(key, record, terms)
  }

  /**
   * Once a later step of this process on the key was sent, the script is not sent again, such as to a server
   * that did not know it.
   */
  async #write(key: string, record: EncodedRecord, terms: PutTerms): Promise<Put> {
    const { scripts, runtime } = this.#parts
    const version = await scripts.put(key, runtime.token(), record, terms)
    return { kind: 'stored', version }
  }
}
