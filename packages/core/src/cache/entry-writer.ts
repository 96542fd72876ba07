import { StoreAwayError } from '../errors.ts'
import type { CacheEvents } from '../events.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { refuseThenable } from '../options/operation-options.ts'
import type { Settings } from '../options/settings.ts'
import { newEntry } from '../refresh/new-entry.ts'
import type { Away } from '../store/store.ts'

/**
 * Executes writes and invalidations. Each detaches the flights of its keys before it settles, also when the store did not answer: the store
 * may have executed it.
 */
export class EntryWriter {
  readonly #coordinator: LoadCoordinator

  constructor(coordinator: LoadCoordinator) {
    this.#coordinator = coordinator
  }

  async set(key: string, stored: string, value: unknown, settings: Settings): Promise<void> {
    refuseThenable(value)
    const { store, runtime } = this.#coordinator.services
    const answer = await store.put(stored, newEntry(value, 0, settings, runtime.random()), settings.codec)
    this.#coordinator.onInvalidated(stored)
    if (answer.kind === 'unkeepable') throw answer.cause
    this.#confirmExecuted(key, 'set', answer)
  }

  async invalidate(key: string, stored: string, how: 'delete' | 'expire', holdOff: number): Promise<void> {
    const answer = await this.#coordinator.services.store.invalidate(stored, how, holdOff)
    this.#coordinator.onInvalidated(stored)
    this.#confirmExecuted(key, how, answer)
  }

  async invalidateTags(tags: readonly string[]): Promise<void> {
    const answer = await this.#coordinator.services.store.invalidateTags(tags)
    this.#coordinator.onAllInvalidated()
    this.#confirmExecuted(tags.join(' '), 'tags', answer)
  }

  async clear(): Promise<number> {
    const answer = await this.#coordinator.services.store.clear()
    this.#coordinator.onAllInvalidated()
    this.#confirmExecuted('*', 'clear', answer)
    return answer.kind === 'cleared' ? answer.entries : 0
  }

  /** @throws StoreAwayError */
  #confirmExecuted(key: string, how: CacheEvents['invalidate']['how'], answer: { readonly kind: string } | Away): void {
    const { events } = this.#coordinator.services
    if ('cause' in answer) {
      if (events.hasListeners('away')) events.emit('away', { key, step: how, error: answer.cause })
      throw new StoreAwayError(how, key, answer)
    }
    if (events.hasListeners('invalidate')) events.emit('invalidate', { key, how })
  }
}
