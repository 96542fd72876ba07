import type { Flight } from './flight.ts'
import type { SharedReads } from './shared-reads.ts'

/** Holds at most one joinable refresh per key, and detaches it and the key's read. A refresh that ends removes itself only if no later one has taken its key. */
export class FlightRegistry {
  readonly #reads: SharedReads
  readonly #refreshes = new Map<string, Flight>()
  readonly #running = new Map<Flight, Promise<void>>()

  constructor(reads: SharedReads) {
    this.#reads = reads
  }

  /**
   * Every unfinished flight, joinable or not: a refresh, or a load for one caller alone. Each with its end, after the last answer of the store: callers do not
   * wait for that; `close` does.
   */
  get running(): ReadonlyMap<Flight, Promise<void>> {
    return this.#running
  }

  /** The key's refresh, if a call may join it. */
  joinable(key: string): Flight | undefined {
    const flight = this.#refreshes.get(key)
    return flight?.joinable === true ? flight : undefined
  }

  /** Registers a flight until `run`, which must not reject, settles. */
  register(flight: Flight, run: Promise<void>): void {
    if (flight.joinable) this.#refreshes.set(flight.key, flight)
    const end = run.then(() => {
      this.#running.delete(flight)
      if (this.#refreshes.get(flight.key) === flight) this.#refreshes.delete(flight.key)
    })
    this.#running.set(flight, end)
  }

  /** Keeps later calls from joining anything of the key that began before its invalidation. */
  detach(key: string): void {
    this.#reads.forget(key)
    this.#refreshes.get(key)?.detach()
    this.#refreshes.delete(key)
  }

  /**
   * Detaches the read and the flight of every key. Spares a flight that waits for a lease or a permit, because it reads or loads only after the wait, and
   * one that loads without a lease, because its later callers read again: nothing else keeps such loads of a key from running side by side.
   */
  detachUnlessWaiting(): void {
    this.#reads.forgetAll()
    for (const [key, flight] of this.#refreshes) if (!flight.waiting && !flight.lateJoinersReadAgain) this.detach(key)
  }

  /**
   * Makes a flight that is about to begin its load the joinable one of its key. Without the store nothing else keeps the flights of a key that
   * invalidations have detached from loading side by side. False when another flight has that place.
   */
  makeJoinable(flight: Flight): boolean {
    const joinable = this.joinable(flight.key)
    if (joinable === undefined) this.#refreshes.set(flight.key, flight.reattach())
    return joinable === undefined || joinable === flight
  }
}
