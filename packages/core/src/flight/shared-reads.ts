import type { Codec } from '../codec/codec.ts'
import { emitAway } from './emit-away.ts'
import type { EngineServices } from './engine-services.ts'
import type { Read } from '../store/answers.ts'
import { SlotMap } from '../maps/slot-map.ts'
import type { ReadTerms } from '../store/store.ts'

type Services = Pick<EngineServices, 'store' | 'events' | 'runtime'>

/**
 * A read under way, and the one that is sent after its answer, for the calls that came too late for it. A
 * class: see docs/decisions/0013.
 */
class SharedRead implements ReadTerms {
  readonly since: number | undefined
  answer!: Promise<Read>
  following: SharedRead | undefined = undefined
  #sent = false

  constructor(since: number | undefined) {
    this.since = since
  }

  /**
   * True until it is sent: a call that comes later may follow a change that the answer, which may lie unread
   * in the socket, does not know.
   */
  get joinable(): boolean {
    return !this.#sent
  }

  onSend(): void {
    this.#sent = true
  }
}

/** The reads with one codec, by key. */
type RunningReads = SlotMap<SharedRead>

/**
 * The reads of one process: at most one under way per key and codec, and one behind it. A call joins a read
 * that was not sent when the call began:
 *
 * 1. a read is sent      2. the store answers it      3. another process deletes the key, and is told so
 * 4. a call begins; the answer of 2 has not been read yet. It must get what the store answers now
 *
 * A store that is not shared announces each change before the promise of the change settles, and `forget`
 * then ends the joining.
 */
export class SharedReads {
  readonly #services: Services
  /** By the id of the codec. */
  readonly #running: Record<number, RunningReads> = {}

  constructor(services: Services) {
    this.#services = services
  }

  /**
   * Joins a read of the key, or starts one, and resolves to what `onRead` returns for it. The call that
   * starts the read ends it before any `onRead` runs: a call that reads again because of the result starts a
   * new read.
   *
   * A hit takes this path: no async function, and one `then` per call.
   */
  read<T>(key: string, codec: Codec, onRead: (read: Read) => T | Promise<T>): Promise<T> {
    const reads = (this.#running[codec.id] ??= new SlotMap())
    const running = reads.get(key)
    if (running === undefined) return this.#start(reads, key, codec, onRead)
    if (running.joinable || !this.#services.store.shared) return running.answer.then(onRead)
    return running.following === undefined
      ? this.#queueBehind(running, reads, key, codec, onRead)
      : running.following.answer.then(onRead)
  }

  #start<T>(reads: RunningReads, key: string, codec: Codec, onRead: (read: Read) => T | Promise<T>): Promise<T> {
    const started = new SharedRead(undefined)
    started.answer = this.#services.store.read(key, codec, started)
    reads.set(key, started)
    return this.#end(started, reads, key, onRead)
  }

  /**
   * One read for all calls that come while another one is under way: it is sent after the answer to that. An
   * away store is not asked again.
   */
  #queueBehind<T>(
    running: SharedRead,
    reads: RunningReads,
    key: string,
    codec: Codec,
    onRead: (read: Read) => T | Promise<T>,
  ): Promise<T> {
    const { store, runtime } = this.#services
    const following = new SharedRead(runtime.elapsed())
    following.answer = running.answer.then((read) => (isAway(read) ? read : store.read(key, codec, following)))
    running.following = following
    return this.#end(following, reads, key, onRead)
  }

  #end<T>(read: SharedRead, reads: RunningReads, key: string, onRead: (answer: Read) => T | Promise<T>): Promise<T> {
    return read.answer.then(
      (answer) => {
        endRead(reads, key, read)
        this.#emitFaults(key, answer)
        return onRead(answer)
      },
      (error: unknown) => {
        endRead(reads, key, read)
        throw error
      },
    )
  }

  /**
   * Once per read, however many calls have joined it. An away read is reported by the call that loads without
   * the store.
   */
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
    this.#services.events.warnOnce(
      `The store has entries of another ${what}. Processes that differ in it load a key that they share again and again: give each ${what} a namespace of its own.`,
      'CATTLEGRID_MIXED_NAMESPACE',
    )
  }

  /** Keeps later calls from joining the key's running read, which may have missed a newer state. */
  forget(key: string): void {
    for (const reads of Object.values(this.#running)) reads.delete(key)
  }

  forgetAll(): void {
    for (const reads of Object.values(this.#running)) reads.clear()
  }
}

/** True for a read that the store has not answered. */
export function isAway(read: Read): boolean {
  return read.kind === 'away' || read.away !== undefined
}

/** Unless it was forgotten, or another read has taken its place. */
function endRead(reads: RunningReads, key: string, read: SharedRead): void {
  if (reads.get(key) !== read) return
  if (read.following === undefined) reads.delete(key)
  else reads.set(key, read.following)
}
