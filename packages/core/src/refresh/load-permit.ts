import type { AdmissionControl, PermitSource, ReleasePermit } from '../flight/admission-control.ts'
import type { Call } from '../flight/call.ts'
import type { Flight, FlightStep } from '../flight/flight.ts'
import type { ActiveLoad } from '../flight/reentrancy.ts'
import type { Abandoned } from '../load.ts'
import type { Runtime } from '../runtime.ts'

/** The permit of one load, from the wait for it to its release. It may be acquired again after a release. */
export class LoadPermit implements FlightStep {
  readonly #source: PermitSource
  #release: ReleasePermit | undefined
  #leaveQueue: (() => void) | undefined

  constructor(call: Call, admission: AdmissionControl) {
    this.#source = call.batch?.permits ?? admission
  }

  get held(): boolean {
    return this.#release !== undefined
  }

  /** Acquires a free permit at once; false when none is free. `enclosing`: the loads that the new load runs inside of. */
  tryAcquire(enclosing?: readonly ActiveLoad[]): boolean {
    this.#release ??= this.#source.tryAcquirePermit(enclosing)
    return this.held
  }

  /** Queues, before it returns, for the next free permit. Resolves to false when `stopWaiting` comes first. */
  #acquire(): Promise<boolean> {
    return new Promise((resolve) => {
      const leaveQueue = this.#source.queueForPermit((release) => {
        this.#leaveQueue = undefined
        this.#release = release
        resolve(true)
      })
      this.#leaveQueue = () => {
        leaveQueue()
        resolve(false)
      }
    })
  }

  /** Acquires the permit for the load of a flight, whose time in the queue counts as waiting. Without a permit it resolves to the reason. */
  async acquireFor(flight: Flight, runtime: Runtime): Promise<'acquired' | Abandoned> {
    const { background } = flight
    if (flight.stopReason !== undefined) return flight.stopReason
    if (this.held || this.tryAcquire(background ? [] : undefined)) return 'acquired'
    if (background) return 'busy'
    const acquiring = this.#acquire()
    // Only now, with the flight in the queue: `beginWait` may make its last caller give up, and that takes the flight out of the queue.
    flight.beginWait(runtime.now())
    const acquired = await acquiring
    flight.endWait(runtime.now())
    // Also with a permit: since it was granted, the cache may have been closed, or the last caller may have left.
    return flight.stopReason ?? (acquired ? 'acquired' : 'no-waiters')
  }

  /** Leaves the queue. */
  stopWaiting(): void {
    this.#leaveQueue?.()
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
