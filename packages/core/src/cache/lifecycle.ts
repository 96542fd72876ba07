import type { LoadCoordinator } from '../flight/coordinator.ts'
import { ClosedError } from '../errors.ts'

/** Decides whether a cache accepts calls, and closes it once. */
export class Lifecycle {
  readonly #coordinator: LoadCoordinator
  readonly #unwatch: () => void
  #closing: Promise<void> | undefined

  constructor(coordinator: LoadCoordinator) {
    this.#coordinator = coordinator
    this.#unwatch = coordinator.services.store.watch((notice) => coordinator.onNotice(notice))
  }

  /** True from the call of `close` on. */
  get closed(): boolean {
    return this.#closing !== undefined
  }

  /**
   * Refuses calls of a closed cache. While the cache closes, it accepts calls from inside its running loads.
   *
   * @throws ClosedError
   */
  throwIfClosed(): void {
    if (this.#closing !== undefined) this.#allowOnlyRunningLoads()
  }

  /** Resolves when the store is closed; `drain` in ms. Further calls return the same promise. */
  close(drain: number): Promise<void> {
    this.#closing ??= this.#close(drain)
    return this.#closing
  }

  #allowOnlyRunningLoads(): void {
    if (this.#coordinator.closed || !this.#coordinator.services.admission.isInsideLoad()) throw new ClosedError()
  }

  async #close(drain: number): Promise<void> {
    const { store, events } = this.#coordinator.services
    const abandoned = await this.#coordinator.close(drain, new ClosedError())
    this.#unwatch()
    await store.close()
    events.emit('close', { abandoned })
  }
}
