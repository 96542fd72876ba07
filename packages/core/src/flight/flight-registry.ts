import type { Flight, InvalidationCount } from './flight.ts'
import type { SharedReads } from './shared-reads.ts'
import { SlotMap } from '../maps/slot-map.ts'

interface RunningFlight {
  readonly flight: Flight
  /** Settles after the store's last answer, for which only `close` waits. */
  readonly end: Promise<void>
  /** Its place in the list. */
  index: number
}

/**
 * The flights of this process. Each key has one joinable place; the flight in it is joined by later calls,
 * until an invalidation or its end takes the place away.
 */
export class FlightRegistry {
  readonly #reads: SharedReads
  /** By key: the flight in the joinable place. */
  readonly #places = new SlotMap<Flight>()
  readonly #invalidations: InvalidationCount = { current: 0 }
  /** In no order. */
  readonly #running: RunningFlight[] = []

  constructor(reads: SharedReads) {
    this.#reads = reads
  }

  /** Every unfinished flight, joinable or not; a load for one caller alone, too. */
  get running(): readonly Omit<RunningFlight, 'index'>[] {
    return this.#running
  }

  /** The key's flight that a call may join. */
  joinable(key: string): Flight | undefined {
    const flight = this.#places.get(key)
    return flight?.joinable === true ? flight : undefined
  }

  /** Registers a flight until `run`, which must not reject, settles. */
  register(flight: Flight, run: Promise<void>): void {
    flight.countInvalidationsFrom(this.#invalidations)
    if (flight.joinable) this.#places.set(flight.key, flight)
    const end = run.then(() => {
      this.#end(running)
    })
    const running: RunningFlight = { flight, end, index: this.#running.length }
    this.#running.push(running)
  }

  #end(ended: RunningFlight): void {
    const { flight, index } = ended
    // Only its own place: a later flight may have taken it.
    if (this.#places.get(flight.key) === flight) this.#places.delete(flight.key)
    const last = this.#running.pop()
    if (last === undefined || last === ended) return
    this.#running[index] = last
    last.index = index
  }

  /**
   * Keeps later calls from joining anything of the key that began before its invalidation. A flight that
   * waits for a lease or a permit keeps its place: it reads again after the wait.
   */
  takePlaceAway(key: string): void {
    this.#reads.forget(key)
    if (this.#places.get(key)?.waiting !== true) this.#places.delete(key)
  }

  /** As `takePlaceAway`, for every key, without a visit to any: `Flight.joinable` compares the count. */
  takeAllPlacesAway(): void {
    this.#reads.forgetAll()
    this.#invalidations.current += 1
  }

  /**
   * Gives the joinable place to a flight that is about to load without the store, or to wait for the lease.
   * It may have lost the place to an invalidation, but what it begins now comes later. False if another
   * flight has the place: its callers can join that one. Nothing else keeps flights of one key from loading,
   * or waiting, side by side.
   */
  takeJoinablePlace(flight: Flight): boolean {
    const joinable = this.joinable(flight.key)
    if (joinable !== undefined) return joinable === flight
    flight.countInvalidationsFrom(this.#invalidations)
    this.#places.set(flight.key, flight)
    return true
  }
}
