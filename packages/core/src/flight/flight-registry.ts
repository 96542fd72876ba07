import type { Flight, Generation } from './flight.ts'
import type { SharedReads } from './shared-reads.ts'
import { SlotMap } from '../maps/slot-map.ts'

interface RunningFlight {
  readonly flight: Flight
  /** Settles after the store's last answer, for which only `close` waits. */
  readonly end: Promise<void>
  /** Its place in the list. */
  index: number
}

/** Holds at most one joinable refresh per key, and detaches it and the key's read. A refresh that ends removes itself only if no later one has taken its key. */
export class FlightRegistry {
  readonly #reads: SharedReads
  readonly #refreshes = new SlotMap<Flight>()
  readonly #generation: Generation = { current: 0 }
  /** In no order. */
  readonly #running: RunningFlight[] = []

  constructor(reads: SharedReads) {
    this.#reads = reads
  }

  /** Every unfinished flight, joinable or not: a refresh, or a load for one caller alone. */
  get running(): readonly Omit<RunningFlight, 'index'>[] {
    return this.#running
  }

  /** The key's refresh, if a call may join it. */
  joinable(key: string): Flight | undefined {
    const flight = this.#refreshes.get(key)
    return flight?.joinable === true ? flight : undefined
  }

  /** Registers a flight until `run`, which must not reject, settles. */
  register(flight: Flight, run: Promise<void>): void {
    flight.joinGeneration(this.#generation)
    if (flight.joinable) this.#refreshes.set(flight.key, flight)
    const end = run.then(() => {
      this.#end(running)
    })
    const running: RunningFlight = { flight, end, index: this.#running.length }
    this.#running.push(running)
  }

  #end(ended: RunningFlight): void {
    const { flight, index } = ended
    if (this.#refreshes.get(flight.key) === flight) this.#refreshes.delete(flight.key)
    const last = this.#running.pop()
    if (last === undefined || last === ended) return
    this.#running[index] = last
    last.index = index
  }

  /**
   * Keeps later calls from joining anything of the key that began before its invalidation. Spares a flight that waits for a lease or a permit: it reads or
   * loads only after the wait.
   */
  detach(key: string): void {
    this.#reads.forget(key)
    const flight = this.#refreshes.get(key)
    if (flight === undefined || flight.waiting) return
    flight.detach()
    this.#refreshes.delete(key)
  }

  /** As `detach`, for every key, without a visit to any. Spares also a flight whose late joiners read again. */
  detachAll(): void {
    this.#reads.forgetAll()
    this.#generation.current += 1
  }

  /**
   * Makes a flight that is about to load without the store, or to wait for the lease, the joinable one of its key. False when another flight has that place.
   * Nothing else keeps detached flights of one key from loading, or waiting, side by side.
   */
  makeJoinable(flight: Flight): boolean {
    const joinable = this.joinable(flight.key)
    if (joinable === undefined) this.#refreshes.set(flight.key, flight.reattach())
    return joinable === undefined || joinable === flight
  }
}
