import type { PermitSource, ReleasePermit } from '../flight/permits.ts'
import type { Flight, FlightStep } from '../flight/flight.ts'
import type { Abandoned } from '../load.ts'
import type { Runtime } from '../runtime/runtime.ts'

/** The end of the wait for a permit: acquired, after a wait in the queue or without one; or refused. */
export type PermitAnswer =
  { readonly kind: 'acquired'; readonly queued: boolean } | { readonly kind: 'refused'; readonly why: Abandoned }

interface QueuedPermit {
  leaveQueue(): void
  /** Ends the wait. Call `leaveQueue` first, unless the permit was granted. */
  end(acquired: boolean): void
}

/** The permit of one load, from the wait for it to its release. It may be acquired again after a release. */
export class LoadPermit implements FlightStep {
  readonly #source: PermitSource
  #release: ReleasePermit | undefined
  /** Defined while it queues. */
  #queued: QueuedPermit | undefined

  constructor(source: PermitSource) {
    this.#source = source
  }

  get held(): boolean {
    return this.#release !== undefined
  }

  /** Acquires a permit at once; false when none is free. `always`: acquires one in any case. */
  tryAcquire(always: boolean): boolean {
    this.#release ??= this.#source.tryAcquirePermit(always)
    return this.held
  }

  /** Queues, before it returns, for the next free permit. Resolves to false when `stopWaiting` comes first. */
  #acquire(): Promise<boolean> {
    return new Promise((resolve) => {
      const leaveQueue = this.#source.queueForPermit((release) => {
        this.#release = release
        this.#queued?.end(true)
      })
      const end = (acquired: boolean): void => {
        this.#queued = undefined
        resolve(acquired)
      }
      this.#queued = { leaveQueue, end }
    })
  }

  /** Acquires the permit for the load of a flight, whose time in the queue counts as waiting. */
  async acquireFor(flight: Flight, runtime: Runtime): Promise<PermitAnswer> {
    const { background } = flight
    if (flight.stopReason !== undefined) return { kind: 'refused', why: flight.stopReason }
    if (this.held || this.tryAcquire(flight.needsNoPermit)) return { kind: 'acquired', queued: false }
    if (background) return { kind: 'refused', why: 'busy' }
    const acquiring = this.#acquire()
    // Only now, with the flight in the queue: `beginWait` may make its last caller give up, and that takes the flight out of the queue.
    flight.beginWait(runtime.now())
    const acquired = await acquiring
    flight.endWait(runtime.now())
    // Also with a permit: since it was granted, the cache may have been closed, or the last caller may have left.
    const why = flight.stopReason ?? (acquired ? undefined : 'no-waiters')
    return why === undefined ? { kind: 'acquired', queued: true } : { kind: 'refused', why }
  }

  /** Leaves the queue. */
  stopWaiting(): void {
    this.#queued?.leaveQueue()
    this.#queued?.end(false)
  }

  skipQueue(): void {
    const queued = this.#queued
    if (queued === undefined) return
    queued.leaveQueue()
    queued.end(this.tryAcquire(true))
  }

  abort(): void {
    this.stopWaiting()
  }

  /** Gives the permit back, if one is held. */
  release(): void {
    this.#release?.()
    this.#release = undefined
  }
}
