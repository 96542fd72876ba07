import { StoreAwayError } from '../errors.ts'
import type { CacheEvents } from '../events/cache-events.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { emitAway } from '../flight/emit-away.ts'
import { warnOfMissingIn, warnOfPattern } from '../flight/name-check.ts'
import { refuseThenable } from '../options/operation-options.ts'
import type { Settings } from '../options/settings.ts'
import { newEntry } from '../claim/new-entry.ts'
import type { Away } from '../store/answers.ts'

/** The store's answer to a write or an invalidation that it executed. */
interface Executed {
  readonly kind: 'stored' | 'done' | 'cleared'
}

/**
 * Executes writes and invalidations. Its keys are stored keys. Each takes the joinable places of its keys
 * away before its promise settles, also when the store did not answer: it may have executed the step.
 */
export class EntryWriter {
  readonly #coordinator: LoadCoordinator

  constructor(coordinator: LoadCoordinator) {
    this.#coordinator = coordinator
  }

  async set(key: string, value: unknown, settings: Settings): Promise<void> {
    refuseThenable('set', value)
    const { store, runtime, codecCheck } = this.#coordinator.services
    codecCheck.check(key, value, settings.codec)
    const answer = await store.put(key, newEntry(value, 0, settings, runtime.random()), settings.codec)
    this.#coordinator.onInvalidated(key)
    if (answer.kind === 'unkeepable') throw answer.cause
    this.#confirmExecuted(key, 'set', answer)
  }

  /** Writes every value, and then throws the error of the first one that has one. */
  async setMany(values: readonly (readonly [string, unknown])[], settings: Settings): Promise<void> {
    await inOneTurn(values.map(([key, value]) => this.set(key, value, settings)))
  }

  async invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<void> {
    warnOfPattern(how, [key], this.#coordinator.services.events)
    const answer = await this.#coordinator.services.store.invalidate(key, how, holdOff)
    this.#coordinator.onInvalidated(key)
    this.#confirmExecuted(key, how, answer)
  }

  /** Deletes every key, and then throws the error of the first one that has one. */
  async deleteMany(keys: readonly string[], holdOff: number): Promise<void> {
    await inOneTurn(keys.map((key) => this.invalidate(key, 'delete', holdOff)))
  }

  /** `deleteAfter`: of an expiry, ms. Default: it has no end. */
  async invalidateTags(tags: readonly string[], how: 'delete' | 'expire', deleteAfter?: number): Promise<void> {
    const { store, events } = this.#coordinator.services
    warnOfPattern(how === 'delete' ? 'invalidateTags' : 'expireTags', tags, events)
    warnOfMissingIn(tags, events)
    const answer = await store.invalidateTags(tags, how, deleteAfter)
    this.#coordinator.onTagsInvalidated(tags)
    this.#confirmExecuted(tags.join(' '), how === 'delete' ? 'tags' : 'expire-tags', answer, tags)
  }

  async clear(): Promise<number> {
    const answer = await this.#coordinator.services.store.clear()
    this.#coordinator.onAllInvalidated()
    this.#confirmExecuted('*', 'clear', answer)
    return answer.kind === 'cleared' ? answer.entries : 0
  }

  /**
   * Emits the event of an executed step.
   *
   * @throws StoreAwayError
   */
  #confirmExecuted(
    key: string,
    how: CacheEvents['invalidate']['how'],
    answer: Executed | Away,
    tags: readonly string[] = [],
  ): void {
    const { events } = this.#coordinator.services
    if (answer.kind === 'away') {
      emitAway(events, key, how, answer)
      throw new StoreAwayError(how, key, answer)
    }
    if (events.hasListeners('invalidate')) events.emit('invalidate', { key, tags, how })
  }
}

/** @throws the error of the first step that has one, once all have ended. */
async function inOneTurn(steps: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(steps)) if (result.status === 'rejected') throw result.reason
}
