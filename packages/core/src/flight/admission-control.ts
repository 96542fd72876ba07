import type { Outcome } from '../load.ts'
import type { AdmissionLimits } from '../options/settings.ts'
import type { Flight } from './flight.ts'
import { Awaited, type Awaiters } from './awaited.ts'
import { isInsideLoadOf, LoadOwner, type LoadScope, openLoadScope, recordWait, throwIfInside } from './reentrancy.ts'

/** Several calls that `maxWaiters` counts as one waiter. */
export interface SharedWaiter {
  waiting: number
}

/**
 * Enforces `maxWaiters` and `maxWaitersPerKey` in this process, and rejects a load that would wait
 * for itself.
 */
export class AdmissionControl {
  readonly #limits: AdmissionLimits
  readonly #loads = new LoadOwner()
  #waiters = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** The number of waiting calls that count towards `maxWaiters`. */
  get waiters(): number {
    return this.#waiters
  }

  /** Opens the scope of a loader of `keys` of this cache. `outer`: that of the loader that began it. */
  openLoadScope(outer: LoadScope | undefined, keys: readonly string[]): LoadScope {
    return openLoadScope(outer, this.#loads, keys)
  }

  /** True when the current code runs inside a load of this cache. */
  isInsideLoad(): boolean {
    return isInsideLoadOf(this.#loads)
  }

  /**
   * @throws ReentrantLoadError when a load of `key` for one caller alone would begin inside a load of
   * that key.
   */
  checkLoadAlone(key: string): void {
    throwIfInside(this.#loads, key)
  }

  /**
   * Counts one more call that waits for `flight`. Returns the function that stops counting it, or undefined
   * when a limit is reached. A call from inside a load of this cache is not counted: refused, it would fail
   * the load that the counted callers wait for. `awaiters`: those of a call from inside any load, awaited
   * or not.
   */
  admitWaiter(flight: Flight, awaiters?: Awaiters, sharedWaiter?: SharedWaiter): (() => void) | undefined {
    if (this.isInsideLoad()) return this.#admitNested(flight, awaiters)
    const alreadyCounted = sharedWaiter !== undefined && sharedWaiter.waiting > 0
    const { maxWaiters, maxWaitersPerKey } = this.#limits
    if ((!alreadyCounted && this.#waiters >= maxWaiters) || flight.countedCallers >= maxWaitersPerKey) return undefined
    if (!alreadyCounted) this.#waiters += 1
    const removeWait = awaiters?.beginWait({ owner: this.#loads, key: flight.key })
    // The usual case: all callers of a herd share this one function.
    if (sharedWaiter === undefined && removeWait === undefined) return this.#removeWaiter
    if (sharedWaiter !== undefined) sharedWaiter.waiting += 1
    return () => {
      if (sharedWaiter !== undefined) sharedWaiter.waiting -= 1
      if (sharedWaiter === undefined || sharedWaiter.waiting === 0) this.#removeWaiter()
      removeWait?.()
    }
  }

  /**
   * The outcome of a flight for one caller: a load that awaits it waits for the flight. Most callers never
   * do, and nothing is attached to the flight for them.
   */
  awaitedOutcome(flight: Flight): Promise<Outcome> {
    return new Awaited(
      () => flight.outcome,
      (scope, refuse) => this.#awaitOutcome(flight, scope, refuse),
    )
  }

  #awaitOutcome(flight: Flight, scope: LoadScope, refuse: (error: unknown) => void): void {
    if (flight.settled) return
    const wait = { owner: this.#loads, key: flight.key }
    try {
      recordWait(scope, wait)
    } catch (error) {
      return refuse(error)
    }
    if (this.isInsideLoad()) flight.skipQueue()
    void flight.outcome.then(() => scope.waits?.delete(wait))
  }

  /** Whether the call is awaited is not known yet, so it gives its permit away in either case. */
  #admitNested(flight: Flight, awaiters: Awaiters | undefined): () => void {
    flight.markNested()
    const removeWait = awaiters?.beginWait({ owner: this.#loads, key: flight.key })
    return () => {
      flight.unmarkNested()
      removeWait?.()
    }
  }

  readonly #removeWaiter = (): void => {
    this.#waiters -= 1
  }
}
