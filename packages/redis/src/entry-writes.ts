import {
  type Codec,
  type Done,
  EXPIRED_BY_HAND,
  type NewEntry,
  type Put,
  type Runtime,
  type TagsInvalidated,
} from '@cattlegrid/core'
import { encodeEntry } from './encode-entry.ts'
import type { Scripts } from './scripts.ts'
import type { StepRunner } from './step-runner.ts'
import type { TagSequence } from './tag-sequence.ts'

/** The writes and invalidations that need no lease. A write and a key invalidation void the lease that is held. */
export class EntryWrites {
  readonly #steps: StepRunner
  readonly #scripts: Scripts
  readonly #tags: TagSequence
  readonly #runtime: Runtime

  constructor(steps: StepRunner, scripts: Scripts, tags: TagSequence, runtime: Runtime) {
    this.#steps = steps
    this.#scripts = scripts
    this.#tags = tags
    this.#runtime = runtime
  }

  put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    return this.#steps.run(async () => {
      // The value exists already, so only a tag invalidation from now on voids it.
      const tagSeq = entry.tags.length > 0 ? (await this.#tags.noteTagsOf(entry)).sequence : 0
      const record = encodeEntry(entry, codec, EXPIRED_BY_HAND, tagSeq)
      if ('kind' in record) return record
      const version = await this.#scripts.put(key, this.#runtime.token(), record)
      return { kind: 'stored', version } as const
    })
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#steps.run(async () => {
      await this.#scripts.invalidate(key, how, holdOff)
      return { kind: 'done' } as const
    })
  }

  invalidateTags(tags: readonly string[]): Promise<TagsInvalidated> {
    return this.#steps.run(async () => ({ kind: 'done', tagSeq: await this.#scripts.invalidateTags(tags) }) as const)
  }
}
