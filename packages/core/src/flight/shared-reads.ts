import { type Codec, isSameCodec } from '../codec/codec.ts'
import { emitAway } from './emit-away.ts'
import type { EngineServices } from './engine-services.ts'
import type { Read } from '../store/answers.ts'
import { SlotMap } from '../maps/slot-map.ts'

interface RunningRead {
  readonly codec: Codec
  readonly read: Promise<Read>
}

/** At most one joinable read per key. */
export class SharedReads {
  readonly #services: Pick<EngineServices, 'store' | 'events'>
  readonly #joinable = new SlotMap<RunningRead>()

  constructor(services: Pick<EngineServices, 'store' | 'events'>) {
    this.#services = services
  }

  /**
   * Joins the running read of the key, or starts one, and resolves to what `onRead` returns for it. The call that starts the read ends it
   * before any `onRead` runs: a call that reads again because of the result starts a new read.
   *
   * A hit takes this path: no async function, and one `then` per call.
   */
  read<T>(key: string, codec: Codec, onRead: (read: Read) => T | Promise<T>): Promise<T> {
    const current = this.#joinable.get(key)
    if (current !== undefined && isSameCodec(current.codec, codec)) return current.read.then(onRead)
    const started: RunningRead = { codec, read: this.#services.store.read(key, codec) }
    this.#joinable.set(key, started)
    return started.read.then(
      (read) => {
        this.#end(key, started)
        this.#emitFaults(key, read)
        return onRead(read)
      },
      (error: unknown) => {
        this.#end(key, started)
        throw error
      },
    )
  }

  /** Once per read, however many calls have joined it. An away read is reported by the call that loads without the store. */
  #emitFaults(key: string, read: Read): void {
    const { events } = this.#services
    if (read.kind === 'away') return
    if (read.away !== undefined) emitAway(events, key, 'read', read.away)
    const because = read.kind === 'missing' ? read.because : undefined
    if (because !== undefined && events.hasListeners('unreadable'))
      events.emit('unreadable', { key, why: because.why, error: because.cause })
  }

  /** Unless it was forgotten, or another read has taken its place. */
  #end(key: string, read: RunningRead): void {
    if (this.#joinable.get(key) === read) this.#joinable.delete(key)
  }

  /** Keeps later calls from joining the key's running read, which may have missed a newer state. */
  forget(key: string): void {
    this.#joinable.delete(key)
  }

  forgetAll(): void {
    this.#joinable.clear()
  }
}
