import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Cache, structured } from '@cattlegrid/core'
import { LONGEST_WINDOW } from '@cattlegrid/core/extend'
import { PathLog } from './path-log.ts'
import { tagsToInvalidate } from './tag-names.ts'

/** Number of tags in one invalidation. */
const TAGS_AT_ONCE = 50

/** How long values may be served stale after an invalidation, in seconds. */
export interface NextDurations {
  readonly expire?: number | undefined
}

/** The calls of one turn of the event loop. */
interface Batch {
  readonly tags: Set<string>
  readonly done: Promise<void>
}

const known = new WeakMap<Cache, Invalidations>()

/**
 * The invalidations of a cache. Next tells each of them to the handler of pages and to that of `'use cache'`,
 * in one turn: they are one, else a render that began between the two would be in vain.
 */
export class Invalidations {
  readonly paths: PathLog
  readonly #cache: Cache
  /** By the end of stale values, ms. */
  readonly #batches = new Map<number, Batch>()

  private constructor(cache: Cache) {
    this.#cache = cache
    this.paths = new PathLog(cache)
  }

  /** Those that all handlers of the cache share. */
  static of(cache: Cache): Invalidations {
    const made = known.get(cache.root) ?? new Invalidations(viewFor(cache.root))
    known.set(cache.root, made)
    return made
  }

  /**
   * Invalidates what carries one of the tags, and what paths use that are among them. With `durations`,
   * values may be served stale, for `expire` seconds; without it for as long as they last.
   *
   * @throws StoreAwayError when the store did not answer.
   */
  async add(tags: readonly string[], durations: NextDurations | undefined): Promise<void> {
    const { expire = Infinity } = durations ?? { expire: 0 }
    const batch = this.#batches.get(expire) ?? this.#begin(expire)
    for (const tag of tags) batch.tags.add(tag)
    await batch.done
  }

  #begin(expire: number): Batch {
    const tags = new Set<string>()
    const done = nextTurn().then(() => {
      this.#batches.delete(expire)
      return this.#send([...tags], expire * 1000)
    })
    const batch = { tags, done }
    this.#batches.set(expire, batch)
    return batch
  }

  async #send(tags: readonly string[], end: number): Promise<void> {
    const names = tagsToInvalidate(tags)
    // No stale value lasts for longer.
    const deleteAfter = end <= LONGEST_WINDOW ? end : undefined
    const steps = [this.paths.add(tags)]
    for (let first = 0; first < names.length; first += TAGS_AT_ONCE) {
      const some = names.slice(first, first + TAGS_AT_ONCE)
      steps.push(end === 0 ? this.#cache.invalidateTags(some) : this.#cache.expireTags(some, { deleteAfter }))
    }
    await Promise.all(steps)
  }
}

/** The view of a cache for what Next renders: Next loads whatever the cache says, so no limit holds it up. */
export function viewFor(cache: Cache): Cache {
  return cache.with({ codec: structured, source: 'next', maxLoads: Number.MAX_SAFE_INTEGER })
}
