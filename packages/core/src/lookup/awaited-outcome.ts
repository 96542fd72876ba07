import type { AdmissionControl } from '../flight/admission-control.ts'
import type { Flight } from '../flight/flight.ts'
import type { Outcome } from '../load.ts'

interface Wait {
  readonly flight: Flight
  readonly admission: AdmissionControl
}

/** The outcome of a flight for one caller. Inside a load, to await the outcome counts as waiting for the flight, wherever the caller got it. */
export function awaitedOutcome(flight: Flight, admission: AdmissionControl): Promise<Outcome> {
  return AwaitedOutcome.of({ flight, admission })
}

/** Records the wait only where a loader awaits the outcome: `await` calls an overridden `then`. */
class AwaitedOutcome extends Promise<Outcome> {
  #wait: Wait | undefined

  /** A derived promise is a plain one. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  static of(wait: Wait): Promise<Outcome> {
    const outcome = new AwaitedOutcome((resolve) => resolve(wait.flight.outcome))
    outcome.#wait = wait
    return outcome
  }

  override then<T = Outcome, E = never>(
    onFulfilled?: ((outcome: Outcome) => T | PromiseLike<T>) | null,
    onRejected?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<T | E> {
    try {
      const endWait = this.#wait?.admission.recordOutcomeWait(this.#wait.flight)
      void super.then(endWait)
      return super.then(onFulfilled, onRejected)
    } catch (error) {
      return Promise.reject<Outcome>(error).then(onFulfilled, onRejected)
    }
  }
}
