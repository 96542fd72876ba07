import { type Codec, isSameCodec } from '../codec/codec.ts'
import { emitAway } from './emit-away.ts'
import type { EngineServices } from './engine-services.ts'
import type { Flight } from './flight.ts'
import { SharedReads } from './shared-reads.ts'
import type { Read } from '../store/store.ts'

/** Holds at most one joinable read and one joinable refresh per key. A refresh that ends removes itself only if no later one has taken its key. */
export class FlightRegistry {
  readonly #services: Pick<EngineServices, 'store' | 'events'>
  readonly #reads = new SharedReads()
  readonly #refreshes = new Map<string, Flight>()
  readonly #running = new Set<Flight>()

  constructor(services: Pick<EngineServices, 'store' | 'events'>) {
    this.#services = services
  }

  /** Every unfinished refresh, joinable or not. */
  get running(): ReadonlySet<Flight> {
    return this.#running
  }

  /**
   * Joins the running read of the key, or starts one, and resolves to what `onRead` returns for it. The call that starts the read vacates the
   * slot before any `onRead` runs: a call that reads again because of the result starts a new read.
   *
   * A hit takes this path: no async function, and one `then` per call.
   */
  read<T>(key: string, codec: Codec, onRead: (read: Read) => T | Promise<T>): Promise<T> {
    const current = this.#reads.slotOf(key)
    if (current?.read !== undefined && isSameCodec(current.codec, codec)) return current.read.then(onRead)
    const started = this.#services.store.read(key, codec)
    const slot = this.#reads.begin(key, current, codec, started)
    return started.then(
      (read) => {
        this.#reads.end(slot)
        if (read.kind !== 'away' && read.away !== undefined) emitAway(this.#services.events, key, 'read', read.away)
        return onRead(read)
      },
      (error: unknown) => {
        this.#reads.end(slot)
        throw error
      },
    )
  }

  /** The key's refresh, if a call may join it. */
  joinable(key: string): Flight | undefined {
    const flight = this.#refreshes.get(key)
    return flight?.joinable === true ? flight : undefined
  }

  /** Registers a flight until `run`, which must not reject, settles. */
  launch(flight: Flight, run: Promise<void>): void {
    this.#running.add(flight)
    if (flight.joinable) this.#refreshes.set(flight.key, flight)
    void run.then(() => {
      this.#running.delete(flight)
      if (this.#refreshes.get(flight.key) === flight) this.#refreshes.delete(flight.key)
      flight.finish()
    })
  }

  /** Keeps later calls from joining the key's running read, which may have missed a newer state. */
  forgetRead(key: string): void {
    this.#reads.forget(key)
  }

  /** Keeps later calls from joining anything of the key that began before its invalidation. */
  detach(key: string): void {
    this.#reads.forget(key)
    this.#refreshes.get(key)?.detach()
    this.#refreshes.delete(key)
  }

  /** Spares the flights that wait for a lease or a permit: they have no result yet, and read or load only after they have waited. */
  detachAll(): void {
    this.#reads.forgetAll()
    for (const [key, flight] of this.#refreshes) if (!flight.waiting) this.detach(key)
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
