import { type Codec, isSameCodec } from '../codec/codec.ts'
import { emitAway } from './emit-away.ts'
import type { EngineServices } from './engine-services.ts'
import type { Read } from '../store/store.ts'

/** Above this many slots, idle or not, the idle ones are dropped, but only when there are four times as many slots as running reads. */
const CLEAN_UP_ABOVE = 2048

interface ReadSlot {
  codec: Codec
  /** Undefined while the slot is idle. */
  read: Promise<Read> | undefined
}

/**
 * At most one joinable read per key. A slot stays in the Map when its read has ended, because changing the Map for each read is costly: a
 * Map allocates a new table after a number of insertions and deletions, the old table links to the new one, and once an old table is in the
 * old generation, the garbage collector keeps all later tables and their contents alive.
 */
export class SharedReads {
  readonly #services: Pick<EngineServices, 'store' | 'events'>
  #slots = new Map<string, ReadSlot>()
  /** Running reads, including those whose slot was replaced or forgotten. */
  #running = 0

  constructor(services: Pick<EngineServices, 'store' | 'events'>) {
    this.#services = services
  }

  /** The number of slots, idle ones included. */
  get size(): number {
    return this.#slots.size
  }

  /**
   * Joins the running read of the key, or starts one, and resolves to what `onRead` returns for it. The call that starts the read vacates the
   * slot before any `onRead` runs: a call that reads again because of the result starts a new read.
   *
   * A hit takes this path: no async function, and one `then` per call.
   */
  read<T>(key: string, codec: Codec, onRead: (read: Read) => T | Promise<T>): Promise<T> {
    const current = this.#slots.get(key)
    if (current?.read !== undefined && isSameCodec(current.codec, codec)) return current.read.then(onRead)
    const started = this.#services.store.read(key, codec)
    const slot = this.#occupy(key, current, codec, started)
    return started.then(
      (read) => {
        this.#vacate(slot)
        this.#emitFaults(key, read)
        return onRead(read)
      },
      (error: unknown) => {
        this.#vacate(slot)
        throw error
      },
    )
  }

  /** Once a read, however many calls have joined it. An away read is reported by the call that loads without the store. */
  #emitFaults(key: string, read: Read): void {
    const { events } = this.#services
    if (read.kind === 'away') return
    if (read.away !== undefined) emitAway(events, key, 'read', read.away)
    const because = read.kind === 'missing' ? read.because : undefined
    if (because !== undefined && events.hasListeners('unreadable'))
      events.emit('unreadable', { key, why: because.why, error: because.cause })
  }

  /** Puts a read that was just sent into the key's `current` slot if that is idle, else into a new slot that replaces it. */
  #occupy(key: string, current: ReadSlot | undefined, codec: Codec, read: Promise<Read>): ReadSlot {
    this.#running += 1
    if (current !== undefined && current.read === undefined) {
      current.codec = codec
      current.read = read
      return current
    }
    const slot: ReadSlot = { codec, read }
    this.#slots.set(key, slot)
    return slot
  }

  /** The slot's read has ended. */
  #vacate(slot: ReadSlot): void {
    slot.read = undefined
    this.#running -= 1
    if (this.#slots.size > CLEAN_UP_ABOVE && this.#slots.size > 4 * this.#running) this.#dropIdleSlots()
  }

  /** Keeps later calls from joining the key's running read, which may have missed a newer state. */
  forget(key: string): void {
    this.#slots.delete(key)
  }

  forgetAll(): void {
    this.#slots.clear()
  }

  /** Moves the occupied slots to a new Map, to which no old table links. */
  #dropIdleSlots(): void {
    this.#slots = new Map([...this.#slots].filter(([, { read }]) => read !== undefined))
  }
}
