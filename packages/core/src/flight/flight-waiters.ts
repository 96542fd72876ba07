import type { Codec } from '../codec/codec.ts'
import type { Entry } from '../entry.ts'

/** The end of a flight for one waiter. */
export type FlightResult =
  | { readonly kind: 'loaded'; readonly value: unknown; readonly freshFor: number }
  /** The loader of a batch returned no value for the key: the result of a batch, while a call with a loader of its own reads again. */
  | { readonly kind: 'absent' }
  /** An entry that was written while the flight ran, as `codec` decoded it. */
  | { readonly kind: 'found'; readonly entry: Entry; readonly codec: Codec }
  /** `mayServeStale`: whether a caller may get a stale value instead of the error. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayServeStale: boolean }
  /** No result for this waiter: its call reads the store again. */
  | { readonly kind: 'retry' }
  /** No result for this waiter: its call loads for itself. */
  | { readonly kind: 'load-alone' }

/** A caller that waits for a flight, from `add` until the flight settles it or it is removed. */
export interface FlightWaiter {
  /** Delivers the result. The flight has removed the waiter before. */
  settle(result: FlightResult): void
  /** The flight waits from now on: `waitTimeout` runs. */
  onWaiting(): void
}

/** The owner's loader runs. Early joiners joined before the load began, late ones while it ran. */
type Group = 'owner' | 'early' | 'late'

/** The callers that wait for a flight, by group. */
export class FlightWaiters {
  readonly #owner = new Set<FlightWaiter>()
  readonly #early = new Set<FlightWaiter>()
  readonly #late = new Set<FlightWaiter>()
  #nested = 0

  get size(): number {
    return this.#owner.size + this.#early.size + this.#late.size
  }

  /** The number of waiters that `maxWaiters` counts: all but the calls from inside a load. */
  get counted(): number {
    return this.size - this.#nested
  }

  /** A call from inside a load is one of the waiters, until `removeNested`. */
  addNested(): void {
    this.#nested += 1
  }

  removeNested(): void {
    this.#nested -= 1
  }

  add(waiter: FlightWaiter, group: Group): void {
    this.#groupOf(group).add(waiter)
  }

  remove(waiter: FlightWaiter): void {
    for (const waiters of [this.#owner, this.#early, this.#late]) waiters.delete(waiter)
  }

  /** Calls `onWaiting` of each. */
  notifyWaiting(): void {
    for (const waiters of [this.#owner, this.#early, this.#late]) for (const waiter of waiters) waiter.onWaiting()
  }

  /** Removes and settles the waiters of a group. */
  settle(group: Group, result: FlightResult): void {
    const waiters = this.#groupOf(group)
    const all = [...waiters]
    waiters.clear()
    for (const waiter of all) waiter.settle(result)
  }

  #groupOf(group: Group): Set<FlightWaiter> {
    switch (group) {
      case 'owner':
        return this.#owner
      case 'early':
        return this.#early
      case 'late':
        return this.#late
    }
  }
}
