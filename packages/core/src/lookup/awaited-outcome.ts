import type { AdmissionControl } from '../flight/admission-control.ts'
import type { Flight } from '../flight/flight.ts'
import type { Outcome } from '../load.ts'

/** The outcome of a flight for one caller. Inside a load, to await the outcome counts as waiting for the flight, wherever the caller got it. */
export function awaitedOutcome(flight: Flight, admission: AdmissionControl): Promise<Outcome> {
  return new AwaitedOutcome(flight, admission)
}

/**
 * Asks the flight, and records the wait of a loader, only where somebody awaits the outcome: `await` calls an overridden `then`. Nobody does at most stale
 * hits, and what each of them attached to the flight would live until its load ends.
 */
class AwaitedOutcome extends Promise<Outcome> {
  readonly #flight: Flight
  readonly #admission: AdmissionControl

  constructor(flight: Flight, admission: AdmissionControl) {
    super(() => undefined)
    this.#flight = flight
    this.#admission = admission
  }

  /** A derived promise is a plain one. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  override then<T = Outcome, E = never>(
    onFulfilled?: ((outcome: Outcome) => T | PromiseLike<T>) | null,
    onRejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<T | E> {
    try {
      const { outcome } = this.#flight
      void outcome.then(this.#admission.recordOutcomeWait(this.#flight))
      return outcome.then(onFulfilled, onRejected)
    } catch (error) {
      return Promise.reject<Outcome>(error).then(onFulfilled, onRejected)
    }
  }
}
