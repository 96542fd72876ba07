import type { CancelTimer, Runtime } from '../../runtime/runtime.ts'
import { answerOf, type Done } from '../answers.ts'

/** The number of steps in a row without an answer that opens the breaker. */
const MOST_TIMEOUTS = 5
/** The longest pause before the next ping while it is open, ms. */
const PAUSE = 1000
/**
 * With more pings than this under way the pauses grow: a part that is silent for hours is not sent one
 * each second.
 */
const PINGS_UNDER_WAY = 10

/**
 * Keeps steps from a part of the store that does not answer: each would cost its caller the whole deadline,
 * and they would pile up. While it is open it sends nothing but a ping from time to time; the first prompt
 * answer closes it.
 */
export class CircuitBreaker {
  readonly #runtime: Runtime
  readonly #ping: () => Promise<Done>
  readonly #onChange: (state: 'away' | 'back') => void
  readonly #timeout: number
  #timeouts = 0
  /** When the part answered last. */
  #answeredAt = -Infinity
  #cancelPing: CancelTimer | undefined
  #pingsUnderWay = 0
  #open = false
  #ended = false

  /**
   * `timeout`, ms: the breaker stays closed while any step was answered within this time, as in a burst. A
   * ping must be answered within it, too.
   */
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
    this.#answeredAt = this.#runtime.elapsed()
  }

  /** A step was not answered in time. */
  timedOut(): void {
    this.#timeouts += 1
    if (this.#timeouts < MOST_TIMEOUTS || this.#open || this.#ended) return
    if (this.#runtime.elapsed() - this.#answeredAt < this.#timeout) return
    this.#open = true
    this.#schedulePing()
    this.#onChange('away')
  }

  /** Pings now instead of later: something else shows that the part is reachable. */
  probe(): void {
    if (this.#open) void this.#pingNode()
  }

  /** Stops the pings for good. */
  end(): void {
    this.#ended = true
    this.#cancelPing?.()
  }

  #schedulePing(): void {
    this.#cancelPing?.()
    const pause = PAUSE * Math.max(1, this.#pingsUnderWay / PINGS_UNDER_WAY)
    // At random, so that the processes of a fleet do not ping at the same moment.
    this.#cancelPing = this.#runtime.schedule(() => void this.#pingNode(), pause * (0.5 + this.#runtime.random() / 2))
  }

  async #pingNode(): Promise<void> {
    this.#pingsUnderWay += 1
    this.#schedulePing()
    const sentAt = this.#runtime.elapsed()
    const answer = await answerOf(this.#ping)
    this.#pingsUnderWay -= 1
    if (!this.#open || this.#ended || answer.kind === 'away') return
    if (this.#runtime.elapsed() - sentAt <= this.#timeout) this.#close()
    // The part answers again, late answers first: whether it is prompt is seen by one more.
    else if (this.#pingsUnderWay === 0) void this.#pingNode()
  }

  #close(): void {
    this.#cancelPing?.()
    this.#open = false
    this.#timeouts = 0
    this.#onChange('back')
  }
}
