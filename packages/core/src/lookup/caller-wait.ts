import type { Flight, FlightResult, FlightWaiter } from '../flight/flight.ts'
import type { CallerSignal } from '../load.ts'
import type { CancelTimer, Runtime } from '../runtime.ts'

/** A caller ends its own wait; the flight goes on for whoever is left. */
export interface GaveUp {
  readonly kind: 'gave-up'
  readonly why: 'soft-timeout' | 'wait-timeout'
}

export interface WaitLimits {
  /** How long to wait while a stale value is in hand, ms. */
  readonly soft: number
  /** How much of the call's `waitTimeout` is left, ms; it runs only while the flight follows. */
  readonly budget: number
  /** How long the flight has followed by now, 0 for a new one: that much of its time costs no budget. */
  readonly followed: number
  readonly signal: CallerSignal | undefined
}

/**
 * One caller's wait for a flight, which it boards; `onOver` is called when it ends, however it does.
 *
 * @throws the reason of the caller's own signal.
 */
export function waitFor(
  flight: Flight,
  as: 'owner' | 'joiner',
  patience: WaitLimits,
  runtime: Runtime,
  onOver: () => void,
): Promise<FlightResult | GaveUp> {
  return new Promise((resolve, reject) => {
    const wait = new CallerWait(flight, patience, runtime, onOver, resolve, reject)
    flight.add(wait, as)
    wait.begin()
  })
}

/** A herd is made of these: one promise each, and a timer only where there is something to wait for. */
class CallerWait implements FlightWaiter {
  readonly #flight: Flight
  readonly #patience: WaitLimits
  readonly #runtime: Runtime
  readonly #onOver: () => void
  readonly #resolve: (end: FlightResult | GaveUp) => void
  readonly #reject: (reason: unknown) => void
  #cancelSoft: CancelTimer | undefined
  #cancelLook: CancelTimer | undefined
  #onAbort: (() => void) | undefined
  #over = false

  constructor(
    flight: Flight,
    patience: WaitLimits,
    runtime: Runtime,
    onOver: () => void,
    resolve: (end: FlightResult | GaveUp) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#flight = flight
    this.#patience = patience
    this.#runtime = runtime
    this.#onOver = onOver
    this.#resolve = resolve
    this.#reject = reject
  }

  begin(): void {
    const { soft, signal } = this.#patience
    if (soft !== Infinity) this.#cancelSoft = this.#runtime.schedule(() => this.#giveUp('soft-timeout'), soft)
    if (signal !== undefined) {
      this.#onAbort = () => this.#abort(signal)
      signal.addEventListener('abort', this.#onAbort)
    }
    this.onFollowing()
  }

  settle(result: FlightResult): void {
    if (this.#end()) this.#resolve(result)
  }

  /** Gives up once the flight has followed for the whole budget; looks again when that may be. */
  onFollowing(): void {
    const { budget, followed } = this.#patience
    this.#cancelLook?.()
    // A timer runs only while the flight follows; when it does so again, it is looked at again.
    this.#cancelLook = undefined
    if (!this.#flight.following) return
    const left = budget - (this.#flight.followed(this.#runtime.now()) - followed)
    if (left <= 0) this.#giveUp('wait-timeout')
    // Told again before that, it needs no timer yet: as a rule no caller of a herd ever sets one.
    else if (left <= this.#flight.notifiesWithin)
      this.#cancelLook = this.#runtime.schedule(() => this.onFollowing(), left)
  }

  #giveUp(why: GaveUp['why']): void {
    // Before it leaves: a load that nobody wants may be stopped.
    if (why === 'soft-timeout' && !this.#over) this.#flight.keepRunning()
    if (this.#leave()) this.#resolve({ kind: 'gave-up', why })
  }

  #abort(signal: CallerSignal): void {
    if (this.#leave()) this.#reject(signal.reason)
  }

  #leave(): boolean {
    const leaves = this.#end()
    if (leaves) this.#flight.remove(this)
    return leaves
  }

  /** Once: whether this was the end. */
  #end(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#cancelSoft?.()
    this.#cancelLook?.()
    if (this.#onAbort !== undefined) this.#patience.signal?.removeEventListener('abort', this.#onAbort)
    this.#onOver()
    return true
  }
}
