import type { Codec } from '../codec/codec.ts'
import { emitAway } from './emit-away.ts'
import type { EngineServices } from './engine-services.ts'
import type { Read } from '../store/answers.ts'
import { SlotMap } from '../maps/slot-map.ts'

/** The joinable reads with one codec. The promise itself is what a slot holds: an object literal around it made a hit take half as long again (docs/decisions/0013). */
type RunningReads = SlotMap<Promise<Read>>

/** At most one joinable read per key and codec. */
export class SharedReads {
  readonly #services: Pick<EngineServices, 'store' | 'events'>
  /** By the id of the codec. */
  readonly #joinable: Record<number, RunningReads> = {}
  #mixtureTold = false

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
    const reads = (this.#joinable[codec.id] ??= new SlotMap())
    const running = reads.get(key)
    if (running !== undefined) return running.then(onRead)
    const started = this.#services.store.read(key, codec)
    reads.set(key, started)
    return started.then(
      (read) => {
        endRead(reads, key, started)
        this.#emitFaults(key, read)
        return onRead(read)
      },
      (error: unknown) => {
        endRead(reads, key, started)
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
    if (because === undefined) return
    const { why, cause } = because
    if (why === 'other-codec' || why === 'other-format')
      this.#warnOfMixture(why === 'other-codec' ? 'codec' : 'record format')
    if (events.hasListeners('unreadable')) events.emit('unreadable', { key, why, error: cause })
  }

  /** Each side replaces what the other has stored, so that a key in use by both is loaded again and again. */
  #warnOfMixture(what: string): void {
    if (this.#mixtureTold) return
    this.#mixtureTold = true
    this.#services.events.warn(
      `The store has entries of another ${what}. Processes that differ in it load a key that they share again and again: give each ${what} a namespace of its own.`,
      'CATTLEGRID_MIXED_NAMESPACE',
    )
  }

  /** Keeps later calls from joining the key's running read, which may have missed a newer state. */
  forget(key: string): void {
    for (const reads of Object.values(this.#joinable)) reads.delete(key)
  }

  forgetAll(): void {
    for (const reads of Object.values(this.#joinable)) reads.clear()
  }
}

/** Unless it was forgotten, or another read has taken its place. */
function endRead(reads: RunningReads, key: string, read: Promise<Read>): void {
  if (reads.get(key) === read) reads.delete(key)
}
