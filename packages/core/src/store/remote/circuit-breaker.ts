import type { CancelTimer, Runtime } from '../../runtime.ts'
import type { Done } from '../store.ts'

/** So many steps without an answer in a row, and no other is asked for a while. */
const MOST_SILENCES = 5
/** How long a store is left alone before it is asked whether it answers again, ms. */
const PAUSE = 1000

/**
 * Keeps steps from a store that does not answer: each would cost its caller the whole deadline, and pile up in front of the store. Open, it
 * asks from time to time for a sign of life, and for nothing else; it closes with the first one.
 */
export class Breaker {
  readonly #runtime: Runtime
  readonly #ping: () => Promise<Done>
  readonly #tell: (state: 'away' | 'back') => void
  readonly #patience: number
  #silences = 0
  /** When the store answered last. */
  #answeredAt = -Infinity
  #probe: CancelTimer | undefined
  #open = false
  #ended = false

  /** `patience`, ms: a store that answered somebody within this time is not silent, though a part of it may be. */
  constructor(runtime: Runtime, patience: number, ping: () => Promise<Done>, tell: (state: 'away' | 'back') => void) {
    this.#runtime = runtime
    this.#patience = patience
    this.#ping = ping
    this.#tell = tell
  }

  get open(): boolean {
    return this.#open
  }

  answered(): void {
    this.#silences = 0
    this.#answeredAt = this.#runtime.coarseNow()
  }

  silent(): void {
    this.#silences += 1
    if (this.#silences < MOST_SILENCES || this.#open || this.#ended) return
    if (this.#runtime.coarseNow() - this.#answeredAt < this.#patience) return
    this.#open = true
    this.#schedule()
    this.#tell('away')
  }

  /** Something else says that the store lives. */
  hint(): void {
    if (this.#open) void this.#ask()
  }

  /** No more questions. */
  end(): void {
    this.#ended = true
    this.#probe?.()
  }

  #schedule(): void {
    this.#probe?.()
    // The processes of a fleet do not all knock at once.
    this.#probe = this.#runtime.schedule(() => void this.#ask(), PAUSE * (0.5 + this.#runtime.random() / 2))
  }

  async #ask(): Promise<void> {
    const answer = await this.#ping()
    if (!this.#open || this.#ended) return
    if (answer.kind === 'away') {
      this.#schedule()
      return
    }
    this.#probe?.()
    this.#open = false
    this.#silences = 0
    this.#tell('back')
  }
}
