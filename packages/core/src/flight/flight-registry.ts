import type { Codec } from '../codec.ts'
import type { Engine } from './engine.ts'
import type { Flight } from './flight.ts'
import { SharedReads } from './shared-reads.ts'
import type { Away, Read } from '../store/store.ts'

/** The slots: at most one joinable read and one joinable refresh a key. A slot is cleared only by who is still in it. */
export class FlightRegistry {
  readonly #engine: Pick<Engine, 'store' | 'events'>
  readonly #reads = new SharedReads()
  readonly #refreshes = new Map<string, Flight>()
  readonly #running = new Set<Flight>()

  constructor(engine: Pick<Engine, 'store' | 'events'>) {
    this.#engine = engine
  }

  /** Every refresh that is not over, joinable or not. */
  get running(): ReadonlySet<Flight> {
    return this.#running
  }

  /**
   * Joins the read of the key that is under way, or starts one, and returns what `hear` makes of its answer. Who started it hears first, and
   * clears the slot before that: who asks because of the answer reads anew.
   */
  read<T>(key: string, codec: Codec, hear: (read: Read) => T | Promise<T>): Promise<T> {
    const known = this.#reads.of(key)
    if (known?.read !== undefined && known.codec === codec) return known.read.then(hear)
    const read = this.#engine.store.read(key, codec)
    const slot = this.#reads.take(key, known, codec, read)
    return read.then(
      (answer) => {
        this.#reads.end(slot)
        if (answer.kind !== 'away' && answer.away !== undefined) this.#emitAway(key, answer.away)
        return hear(answer)
      },
      (error: unknown) => {
        this.#reads.end(slot)
        throw error
      },
    )
  }

  /** Once a read, and in the context of who started it. */
  #emitAway(key: string, { cause }: Away): void {
    const { events } = this.#engine
    if (events.hasListeners('away')) events.emit('away', { key, step: 'read', error: cause })
  }

  /** The refresh of the key that a call may join. */
  joinable(key: string): Flight | undefined {
    const flight = this.#refreshes.get(key)
    return flight?.joinable === true ? flight : undefined
  }

  /** Takes a flight in until its road is at its end. */
  launch(flight: Flight, road: Promise<void>): void {
    this.#running.add(flight)
    if (flight.joinable) this.#refreshes.set(flight.key, flight)
    void road.then(() => {
      this.#running.delete(flight)
      if (this.#refreshes.get(flight.key) === flight) this.#refreshes.delete(flight.key)
      flight.finish()
    })
  }

  /** The key has a newer state: no later call joins a read that may have missed it. */
  forgetRead(key: string): void {
    this.#reads.forget(key)
  }

  /** The key was invalidated: no later call joins anything that began before. */
  detach(key: string): void {
    this.#reads.forget(key)
    this.#refreshes.get(key)?.detach()
    this.#refreshes.delete(key)
  }

  detachAll(): void {
    this.#reads.forgetAll()
    for (const key of this.#refreshes.keys()) this.detach(key)
  }
}
