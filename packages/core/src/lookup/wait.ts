import type { Flight, WaiterRole } from '../flight/flight.ts'
import type { Settled, FlightWaiter } from '../flight/flight-waiters.ts'
import type { CallerSignal } from '../load.ts'
import type { CancelTimer, Runtime } from '../runtime/runtime.ts'
import { listenForAbort } from './abort-listeners.ts'

export interface WaitLimits {
  /** The number of the call. */
  readonly call: number
  /**
   * The longest wait of a caller that has a stale value to fall back on, ms; `Infinity` for any other caller.
   */
  readonly softTimeout: number
  /**
   * The rest of the call's `waitTimeout` at `since`, ms. It does not run during a load of the flight, and
   * ends the wait only while the flight waits; a flight never waits after its load began.
   */
  readonly budget: number
  readonly since: number
  readonly signal: CallerSignal | undefined
}

/**
 * Makes one caller wait for a flight. `onOver` is called once, however the wait ends.
 *
 * @throws the reason of the caller's own signal.
 */
export function waitFor(
  flight: Flight,
  role: WaiterRole,
  limits: WaitLimits,
  runtime: Runtime,
  onOver: () => void,
): Promise<Settled> {
  return new Promise((resolve, reject) => {
    const wait = new CallerWait(flight, limits, runtime, onOver, resolve, reject)
    flight.add(wait, role)
    wait.begin()
  })
}

/** Every caller of a herd creates one of these: one promise, and a timer only where a limit needs one. */
class CallerWait implements FlightWaiter {
  readonly #flight: Flight
  readonly #limits: WaitLimits
  readonly #runtime: Runtime
  readonly #onOver: () => void
  readonly #resolve: (result: Settled) => void
  readonly #reject: (reason: unknown) => void
  #cancelSoftTimeout: CancelTimer | undefined
  #cancelWaitTimeout: CancelTimer | undefined
  #ignoreAbort: (() => void) | undefined
  #over = false

  constructor(
    flight: Flight,
    limits: WaitLimits,
    runtime: Runtime,
    onOver: () => void,
    resolve: (result: Settled) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#flight = flight
    this.#limits = limits
    this.#runtime = runtime
    this.#onOver = onOver
    this.#resolve = resolve
    this.#reject = reject
  }

  get call(): number {
    return this.#limits.call
  }

  begin(): void {
    const { softTimeout, signal } = this.#limits
    if (softTimeout !== Infinity)
      this.#cancelSoftTimeout = this.#runtime.schedule(() => this.#giveUp('soft-timeout'), softTimeout)
    if (signal !== undefined) this.#ignoreAbort = listenForAbort(signal, () => this.#abort(signal))
    this.onWaiting()
  }

  settle(result: Settled): void {
    if (this.#end()) this.#resolve(result)
  }

  /**
   * Gives up if the whole budget has passed, its store's answers included; otherwise checks again when it
   * will have.
   */
  onWaiting(): void {
    const { budget, since, softTimeout } = this.#limits
    this.#cancelWaitTimeout?.()
    // No timer while the flight does not wait: it calls this again when it waits again.
    this.#cancelWaitTimeout = undefined
    if (!this.#flight.waiting) return
    // Loads queue: what a caller without a stale value waits for comes sooner.
    if (this.#flight.queues && softTimeout !== Infinity) return this.#giveUp('soft-timeout')
    const left = budget - (this.#runtime.elapsed() - since)
    if (left <= 0) this.#giveUp('wait-timeout')
    // With more left, the flight calls this again before the budget ends. So most callers of a herd never set
    // a timer.
    else if (left <= this.#flight.notifyInterval)
      this.#cancelWaitTimeout = this.#runtime.schedule(() => this.onWaiting(), left)
  }

  #giveUp(why: 'soft-timeout' | 'wait-timeout'): void {
    // Before the caller leaves: a flight without callers gives up a load that has not begun.
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

  /** Ends the wait; false when it had ended before. */
  #end(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#cancelSoftTimeout?.()
    this.#cancelWaitTimeout?.()
    this.#ignoreAbort?.()
    this.#onOver()
    return true
  }
}
