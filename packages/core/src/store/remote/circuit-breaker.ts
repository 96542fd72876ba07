import type { CancelTimer, Runtime } from '../../runtime/runtime.ts'
import type { Done } from '../store.ts'

/** So many steps in a row without an answer open the breaker. */
const MOST_TIMEOUTS = 5
/** The longest pause before the next ping while it is open, ms. */
const PAUSE = 1000

/**
 * Keeps steps from a store that does not answer: each would cost its caller the whole deadline, and they would pile up in
 * front of the store. While it is open it sends nothing but a ping from time to time; the first answer closes it.
 */
export class CircuitBreaker {
  readonly #runtime: Runtime
  readonly #ping: () => Promise<Done>
  readonly #onChange: (state: 'away' | 'back') => void
  readonly #timeout: number
  #timeouts = 0
  /** When the store answered last. */
  #answeredAt = -Infinity
  #cancelPing: CancelTimer | undefined
  #open = false
  #ended = false

  /** `timeout`, ms: the breaker stays closed while any step was answered within this time: only a part of the store may be silent. */
  constructor(
    runtime: Runtime,
    timeout: number,
    ping: () => Promise<Done>,
    onChange: (state: 'away' | 'back') => void,
  ) {
    this.#runtime = runtime
    this.#timeout = timeout
    this.#ping = ping
    this.#onChange = onChange
  }

  get open(): boolean {
    return this.#open
  }

  /** A step was answered. */
  answered(): void {
    this.#timeouts = 0
    this.#answeredAt = this.#runtime.coarseNow()
  }

  /** A step was not answered in time. */
  timedOut(): void {
    this.#timeouts += 1
    if (this.#timeouts < MOST_TIMEOUTS || this.#open || this.#ended) return
    if (this.#runtime.coarseNow() - this.#answeredAt < this.#timeout) return
    this.#open = true
    this.#schedulePing()
    this.#onChange('away')
  }

  /** Pings now instead of later: something else shows that the store is reachable. */
  probe(): void {
    if (this.#open) void this.#pingStore()
  }

  /** Stops the pings for good. */
  end(): void {
    this.#ended = true
    this.#cancelPing?.()
  }

  #schedulePing(): void {
    this.#cancelPing?.()
    // At random, so that the processes of a fleet do not ping at the same moment.
    this.#cancelPing = this.#runtime.schedule(() => void this.#pingStore(), PAUSE * (0.5 + this.#runtime.random() / 2))
  }

  async #pingStore(): Promise<void> {
    const answer = await this.#ping()
    if (!this.#open || this.#ended) return
    if (answer.kind === 'away') {
      this.#schedulePing()
      return
    }
    this.#cancelPing?.()
    this.#open = false
    this.#timeouts = 0
    this.#onChange('back')
  }
}
