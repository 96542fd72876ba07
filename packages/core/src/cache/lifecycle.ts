import type { LoadCoordinator } from '../flight/coordinator.ts'
import { ClosedError } from '../errors.ts'

/** Whether a cache takes calls: it is closed once. */
export class Lifecycle {
  readonly #coordinator: LoadCoordinator
  readonly #unwatch: () => void
  #closing: Promise<void> | undefined

  constructor(coordinator: LoadCoordinator) {
    this.#coordinator = coordinator
    this.#unwatch = coordinator.engine.store.watch((notice) => coordinator.onNotice(notice))
  }

  /**
   * While it closes, loads that still run may ask for what they need; once it is closed nobody may.
   *
   * @throws ClosedError
   */
  throwIfClosed(): void {
    if (this.#closing !== undefined) this.#allowOnlyRunningLoads()
  }

  /** Ends when the store is closed; `drain` in ms. Who closes again waits for the same end. */
  close(drain: number): Promise<void> {
    this.#closing ??= this.#close(drain)
    return this.#closing
  }

  #allowOnlyRunningLoads(): void {
    if (this.#coordinator.closed || !this.#coordinator.engine.admission.isInsideLoad()) throw new ClosedError()
  }

  async #close(drain: number): Promise<void> {
    const { store, events } = this.#coordinator.engine
    const abandoned = await this.#coordinator.close(drain, new ClosedError())
    this.#unwatch()
    await store.close()
    events.emit('close', { abandoned })
  }
}
