import { Deferred } from '../flight/deferred.ts'
import type { LeaseWaiter } from '../flight/lease-waiters.ts'
import type { PermitSource, ReleasePermit } from '../flight/permits.ts'
import type { Flight, FlightStep } from '../flight/flight.ts'
import type { AbandonReason } from '../load.ts'

/**
 * `waited`: the permit came; or a notice or the poll interval did, and the flight still queues. What was read
 * before may be out of date.
 */
export type PermitAnswer =
  | { readonly kind: 'acquired' }
  | { readonly kind: 'waited' }
  | { readonly kind: 'refused'; readonly why: Exclude<AbandonReason, 'overloaded'> }
  | { readonly kind: 'refused'; readonly why: 'overloaded'; readonly wait: number }

interface QueuedPermit {
  readonly ended: Promise<void>
  leaveQueue(): void
  /** Ends the wait. Call `leaveQueue` first, unless the permit was granted. */
  end(): void
}

/** The permit of one load, from the wait for it to its release. It may be acquired again after a release. */
export class LoadPermit implements FlightStep {
  readonly #source: PermitSource
  readonly #patience: number
  readonly #waiter: LeaseWaiter | undefined
  #release: ReleasePermit | undefined
  /** Defined while it queues. */
  #queued: QueuedPermit | undefined
  /** Defined once the queue has refused it: the time that it would have had to wait, ms. */
  #refusedFor: number | undefined

  /**
   * `patience`: the longest wait in the queue, ms. `waiter`: ends each wait in the queue when the key may
   * have got a value.
   */
  constructor(source: PermitSource, patience: number, waiter?: LeaseWaiter) {
    this.#source = source
    this.#patience = patience
    this.#waiter = waiter
  }

  get held(): boolean {
    return this.#release !== undefined
  }

  /** Acquires a permit at once; false when none is free. `force`: acquires one in any case. */
  tryAcquire(force: boolean): boolean {
    this.#release ??= this.#source.tryAcquirePermit(force)
    return this.held
  }

  #joinQueue(flight: Flight): QueuedPermit {
    const ended = new Deferred<void>()
    const end = (): void => {
      this.#queued = undefined
      ended.resolve()
    }
    const leaveQueue = this.#source.queueForPermit({
      get callers() {
        return flight.callers
      },
      onPermit: (release) => {
        this.#release = release
        this.#queued?.end()
      },
      patience: this.#patience,
      refuse: (wait) => {
        this.#refusedFor = wait
        this.#queued?.end()
      },
    })
    return { ended: ended.promise, leaveQueue, end }
  }

  /**
   * Acquires the permit for the load of a flight, whose time in the queue counts as waiting. After `waited`,
   * another call goes on waiting.
   */
  acquireFor(flight: Flight): PermitAnswer | Promise<PermitAnswer> {
    if (flight.stopReason !== undefined) return { kind: 'refused', why: flight.stopReason }
    if (this.held || (this.#queued === undefined && this.tryAcquire(flight.mayExceedMaxLoads)))
      return { kind: 'acquired' }
    if (flight.background) return { kind: 'refused', why: 'busy' }
    this.#queued ??= this.#joinQueue(flight)
    return this.#waitInQueue(flight, this.#queued)
  }

  async #waitInQueue(flight: Flight, { ended }: QueuedPermit): Promise<PermitAnswer> {
    // Only now, with the flight in the queue: `beginWait` may make its last caller give up, and that takes
    // the flight out of the queue.
    const poll = this.#waiter?.pollInterval ?? Infinity
    flight.beginWait(poll, true)
    await (this.#waiter?.waitForNotice(poll, poll, ended) ?? ended)
    flight.endWait()
    if (this.#refusedFor !== undefined) return { kind: 'refused', why: 'overloaded', wait: this.#refusedFor }
    // The wait may have ended by `close`, or because the last caller left, even if a new caller has
    // come since.
    const why = flight.stopReason ?? (this.held || this.#queued !== undefined ? undefined : 'no-waiters')
    return why === undefined ? { kind: 'waited' } : { kind: 'refused', why }
  }

  /** Leaves the queue. */
  stopWaiting(): void {
    this.#queued?.leaveQueue()
    this.#queued?.end()
  }

  skipQueue(): void {
    const queued = this.#queued
    if (queued === undefined) return
    queued.leaveQueue()
    this.tryAcquire(true)
    queued.end()
  }

  abort(): void {
    this.stopWaiting()
  }

  /** Gives the permit back, if one is held; what it is told: see `ReleasePermit`. */
  release(...end: Parameters<ReleasePermit>): void {
    this.#release?.(...end)
    this.#release = undefined
  }
}
