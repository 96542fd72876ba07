import type { Deck } from '../flight/coordinator.ts'
import { ClosedError } from '../errors.ts'

/** Whether a cache takes calls: it is closed once. */
export class Lifecycle {
  readonly #deck: Deck
  readonly #unwatch: () => void
  #closing: Promise<void> | undefined

  constructor(deck: Deck) {
    this.#deck = deck
    this.#unwatch = deck.engine.store.watch((notice) => deck.notice(notice))
  }

  /**
   * While it closes, loads that still run may ask for what they need; once it is closed nobody may.
   *
   * @throws ClosedError
   */
  check(): void {
    if (this.#closing !== undefined) this.#checkInside()
  }

  /** Ends when the store is closed; `drain` in ms. Who closes again waits for the same end. */
  close(drain: number): Promise<void> {
    this.#closing ??= this.#close(drain)
    return this.#closing
  }

  #checkInside(): void {
    if (this.#deck.closed || !this.#deck.engine.admission.isInside()) throw new ClosedError()
  }

  async #close(drain: number): Promise<void> {
    const { store, events } = this.#deck.engine
    const abandoned = await this.#deck.close(drain, new ClosedError())
    this.#unwatch()
    await store.close()
    events.emit('close', { abandoned })
  }
}
