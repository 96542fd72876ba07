import type { Codec } from '@cattlegrid/core'
import {
  type Done,
  type NewEntry,
  NO_VERSION,
  type Put,
  type Runtime,
  type TagsInvalidated,
} from '@cattlegrid/core/extend'
import type { StepRunner } from '../link/step-runner.ts'
import type { PutTerms, Scripts } from '../lua/scripts.ts'
import { numberedTagsOf, type TagSequence } from '../tags/tag-sequence.ts'
import { encodeEntry } from './encode-entry.ts'
import { type EncodedRecord, NO_FENCE } from './record.ts'

/** How long the caller of a put waits. */
export type PutLimits = Pick<PutTerms, 'within' | 'isAbandoned'>

/** The writes and invalidations that need no lease. A write and a key invalidation void the lease that is held. */
export class EntryWrites {
  readonly #steps: StepRunner
  readonly #scripts: Scripts
  readonly #tags: TagSequence
  readonly #runtime: Runtime
  readonly #spread: boolean
  /** By key, the latest put without an answer, unless a later step of this process overwrites it. */
  readonly #unfinished = new Map<string, object>()

  /** `spread`: keys and tags may be on different servers. */
  constructor(steps: StepRunner, scripts: Scripts, tags: TagSequence, runtime: Runtime, spread: boolean) {
    this.#steps = steps
    this.#scripts = scripts
    this.#tags = tags
    this.#runtime = runtime
    this.#spread = spread
  }

  /** The value exists already, so only a tag invalidation from now on voids it. */
  put(key: string, entry: NewEntry, codec: Codec, limits: PutLimits): Promise<Put> {
    const put = {}
    this.#unfinished.set(key, put)
    const isLatest = (): boolean => this.#unfinished.get(key) === put
    const terms = { ...limits, maySendAgain: isLatest }
    const writing = this.#steps.run(async () => {
      const inTwoSteps = this.#spread && entry.tags.length > 0
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
    return this.#steps.run(async () => {
      await this.#scripts.invalidate(key, how, holdOff)
      return { kind: 'done' } as const
    })
  }

  invalidateTags(tags: readonly string[], how: 'delete' | 'expire'): Promise<TagsInvalidated> {
    return this.#steps.run(
      async () => ({ kind: 'done', tagSeq: await this.#scripts.invalidateTags(tags, how) }) as const,
    )
  }

  /** Call it when every entry is removed. */
  dropUnfinished(): void {
    this.#unfinished.clear()
  }

  /**
   * No script reaches both the tags and the entry of a cluster. So the tags come first, and the entry only if this process has not written or
   * invalidated the key meanwhile, and if the caller still waits:
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

  /** Once a later step of this process on the key was sent, the script is not sent again, such as to a server that did not know it. */
  async #write(key: string, record: EncodedRecord, terms: PutTerms): Promise<Put> {
    const version = await this.#scripts.put(key, this.#runtime.token(), record, terms)
    return { kind: 'stored', version }
  }
}
