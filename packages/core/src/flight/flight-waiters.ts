import type { Codec } from '../codec/codec.ts'
import type { Entry } from '../entry.ts'

/** How a wait for a flight ends. */
export type Settled =
  | { readonly kind: 'loaded'; readonly value: unknown; readonly freshFor: number }
  /**
   * The loader of a batch returned no value for the key: the result of a batch, while a call with a loader of
   * its own reads again.
   */
  | { readonly kind: 'absent' }
  /** An entry that was written while the flight ran, as `codec` decoded it. */
  | { readonly kind: 'found'; readonly entry: Entry; readonly codec: Codec }
  /** `mayServeStale`: whether a caller may get a stale value instead of the error. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayServeStale: boolean }
  /** No result for this waiter: its call reads the store again. */
  | { readonly kind: 'retry' }
  /** No result for this waiter: its call loads for itself. */
  | { readonly kind: 'load-alone' }
  /** The caller ended its own wait; the flight goes on for the others. */
  | { readonly kind: 'gave-up'; readonly why: 'soft-timeout' | 'wait-timeout' }

/** A caller that waits for a flight, from `add` until the flight settles it or it is removed. */
export interface FlightWaiter {
  /** The number of its call. */
  readonly call: number
  /** Delivers the result. The flight has removed the waiter before. */
  settle(result: Settled): void
  /** The flight waits from now on: `waitTimeout` runs. */
  onWaiting(): void
}

/** The owner's loader runs. Late joiners joined during the load, as `joiner`; all others are early. */
type Group = 'owner' | 'early' | 'late'

/** The callers that wait for a flight, by group. */
export class FlightWaiters {
  #owner: FlightWaiter | undefined
  /** Undefined until the first one: most flights have no joiners. */
  #early: Set<FlightWaiter> | undefined
  #late: Set<FlightWaiter> | undefined
  #nested = 0

  get size(): number {
    return (this.#owner === undefined ? 0 : 1) + (this.#early?.size ?? 0) + (this.#late?.size ?? 0)
  }

  /** The number of waiters that `maxWaiters` counts: all but the calls from inside a load. */
  get counted(): number {
    return this.size - this.#nested
  }

  /** One of the waiters is a call from inside a load, until `unmarkNested`. */
  markNested(): void {
    this.#nested += 1
  }

  unmarkNested(): void {
    this.#nested -= 1
  }

  add(waiter: FlightWaiter, group: Group): void {
    if (group === 'owner') this.#owner = waiter
    else if (group === 'early') (this.#early ??= new Set()).add(waiter)
    else (this.#late ??= new Set()).add(waiter)
  }

  remove(waiter: FlightWaiter): void {
    if (this.#owner === waiter) this.#owner = undefined
    this.#early?.delete(waiter)
    this.#late?.delete(waiter)
  }

  /** Calls `onWaiting` of each. */
  notifyWaiting(): void {
    this.#owner?.onWaiting()
    for (const waiters of [this.#early, this.#late]) for (const waiter of waiters ?? []) waiter.onWaiting()
  }

  /** Removes and settles the waiters of a group. */
  settle(group: Group, result: Settled): void {
    if (group === 'owner') {
      const owner = this.#owner
      this.#owner = undefined
      owner?.settle(result)
    } else for (const waiter of this.#takeJoiners(group)) waiter.settle(result)
  }

  /** Removes and settles the joiners whose calls began after that one. */
  settleLaterThan(call: number, result: Settled): void {
    for (const joiners of [this.#early, this.#late])
      for (const waiter of joiners ?? [])
        if (waiter.call > call) {
          joiners?.delete(waiter)
          waiter.settle(result)
        }
  }

  #takeJoiners(group: 'early' | 'late'): Iterable<FlightWaiter> {
    const joiners = group === 'early' ? this.#early : this.#late
    if (group === 'early') this.#early = undefined
    else this.#late = undefined
    return joiners ?? []
  }
}
