import { Background } from '../claim/background.ts'
import type { Codec } from '../codec/codec.ts'
import { type Entry, promiseOf } from '../entry.ts'
import { ClosedError } from '../errors.ts'
import { awaitedCall, newAwaiters } from '../flight/awaited.ts'
import { type Call, noteAndJudge, numberCall, PreviousVersion, SingleCall } from '../flight/call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { PermitSource } from '../flight/permits.ts'
import type { Loader } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import type { Read } from '../store/answers.ts'
import { orAbort } from './abort-listeners.ts'
import { FlightJoiner } from './join-flight.ts'
import { Reports } from './reports.ts'
import type { Lookup } from './result.ts'
import { CallState, lookupOf, type Served, identity, serveEntry, serveLoaded, valueOf } from './served.ts'

/** Makes the answer of the called method of what the call is served. */
type Finish<T> = (served: Served) => T | Promise<T>

/**
 * Runs the calls of a cache, or of a view of it. The story of a call, from `run` down: peek, read, judge;
 * then serve the entry, and refresh a stale one in the background; or claim the key, wait for what its flight
 * brings, and serve that. A flight without a result for the call leads back to the read.
 */
export class Lookups {
  readonly #services: EngineServices
  readonly #coordinator: LoadCoordinator
  readonly #permits: PermitSource
  readonly #joiner: FlightJoiner
  readonly #background: Background
  readonly #reports: Reports

  constructor(coordinator: LoadCoordinator, permits: PermitSource) {
    this.#services = coordinator.services
    this.#coordinator = coordinator
    this.#permits = permits
    this.#joiner = new FlightJoiner(coordinator)
    this.#background = new Background(coordinator, permits)
    this.#reports = new Reports(coordinator.services)
  }

  /**
   * Returns a fresh entry from this process, unless its early refresh is due. Synchronous: the fastest hit
   * awaits nothing.
   */
  peek(key: string, settings: Settings, codec: Codec = settings.codec): Entry | undefined {
    const now = this.#services.runtime.coarseNow()
    const entry = this.#freshEntry(key, settings, codec, now)
    return entry === undefined || this.#background.isEarlyDue(key, entry, now, settings) ? undefined : entry
  }

  /** As `peek`, also when an early refresh is due: for a call that never loads. */
  peekIgnoringEarlyRefresh(key: string, settings: Settings, codec: Codec): Entry | undefined {
    return this.#freshEntry(key, settings, codec, this.#services.runtime.coarseNow())
  }

  #freshEntry(key: string, settings: Settings, codec: Codec, now: number): Entry | undefined {
    const { store, freshness } = this.#services
    if (!settings.near || this.#coordinator.paused) return undefined
    const entry = store.peek(key, codec, now)
    return entry !== undefined && freshness.judge(entry, now, settings) === 'fresh' ? entry : undefined
  }

  /** Counts and emits the hit of an entry that `peek` returned. */
  noteHit(key: string, entry: Entry): void {
    this.#reports.freshHit(key, entry)
  }

  /** Resolves to the value. It takes the members of a `Call` one by one, so that a hit allocates none. */
  value(storedKey: string, requestedKey: string, loader: Loader<unknown, never>, settings: Settings): Promise<unknown> {
    const entry = this.peek(storedKey, settings)
    if (entry === undefined) return this.#missedValue(storedKey, requestedKey, loader, settings)
    this.#reports.freshHit(storedKey, entry)
    return promiseOf(entry)
  }

  /** A function of its own, so that V8 can inline the hit. */
  #missedValue(
    storedKey: string,
    requestedKey: string,
    loader: Loader<unknown, never>,
    settings: Settings,
  ): Promise<unknown> {
    return this.run(new SingleCall(storedKey, requestedKey, loader, settings, this.#permits), valueOf)
  }

  /** Resolves to the value and where it came from. */
  lookup(call: Call): Promise<Lookup<unknown>> {
    const { storedKey: key, settings } = call
    const served = this.hit(key, settings)
    return served === undefined ? this.run(call, this.#lookupOf) : Promise.resolve(this.#lookupOf(served))
  }

  /** Serves what `peek` returns, as a hit. */
  hit(key: string, settings: Settings): Served | undefined {
    const entry = this.peek(key, settings)
    if (entry === undefined) return undefined
    const options = { now: this.#services.runtime.now(), role: 'none', state: undefined, refresh: undefined } as const
    const served = serveEntry(settings, entry, 'fresh', options)
    this.noteHit(key, entry)
    return served
  }

  readonly #lookupOf: Finish<Lookup<unknown>> = (served) => lookupOf(served, this.#services.admission)

  /**
   * Refreshes now, however fresh the entry is: joins the running flight, or starts one. An entry that is
   * newer than the first one read is served like any other.
   */
  forceRefresh(call: Call): Promise<unknown> {
    return this.run({ ...call, previousVersion: new PreviousVersion() }, valueOf)
  }

  /** Runs the call, and resolves to what `finish` returns. */
  run<T>(call: Call, finish: Finish<T>): Promise<T> {
    const { settings, batch } = call
    const { runtime, events } = this.#services
    const awaiters = batch === undefined ? newAwaiters() : batch.awaiters
    const state = new CallState(numberCall(), runtime, settings.waitTimeout, awaiters)
    const answer = events.hasListeners('answer')
      ? this.#reports.answer(call.storedKey, state, this.#answer(call, state, identity)).then(finish)
      : this.#answer(call, state, finish)
    // A batch is awaited as a whole.
    return batch === undefined ? awaitedCall(answer, awaiters) : answer
  }

  /**
   * The first read, which serves most calls: no async function, since each costs a hit in Redis one more
   * promise (`bench -- versus`).
   */
  #answer<T>(call: Call, state: CallState, finish: Finish<T>): Promise<T> {
    if (this.#coordinator.paused || this.#maySkipStore(call, state)) return this.#load(call, state, undefined, finish)
    return this.#read(call, (read) => {
      const served = this.#serve(call, state, read)
      return served === undefined ? this.#load(call, state, read, finish) : finish(served)
    })
  }

  /**
   * Claims the key, or loads alone without a read of the store; and reads again until one of them brings
   * a result.
   */
  async #load<T>(call: Call, state: CallState, read: Read | undefined, finish: Finish<T>): Promise<T> {
    for (;;) {
      const loaded =
        read === undefined || this.#coordinator.paused
          ? await this.#loadAlone(call, state)
          : await this.#claim(call, state, read)
      if (loaded !== undefined) return finish(loaded)
      // The claim has its answer: nobody reads the value that this returns.
      if (call.handOut?.given === true) return finish(serveLoaded(undefined, 0, state, undefined))
      state.readAt = this.#services.runtime.elapsed()
      read = this.#coordinator.paused ? undefined : await this.#read(call, (answer) => answer)
      const found = read === undefined ? undefined : this.#serve(call, state, read)
      if (found !== undefined) return finish(found)
    }
  }

  /**
   * True when the key is known to be unshareable: the call then loads alone without asking the store. Not
   * while loads queue for a permit: calls that ask the store join one flight, which takes one place in
   * the queue.
   */
  #maySkipStore({ storedKey, permits }: Call, { startedAt }: CallState): boolean {
    return this.#coordinator.known.isUnshareable(storedKey, startedAt) && permits.permitAvailable
  }

  #read<T>({ storedKey, settings }: Call, onRead: (read: Read) => T | Promise<T>): Promise<T> {
    const { codec, signal } = settings
    const answer = this.#coordinator.reads.read(storedKey, codec, onRead)
    // In a burst the read of a shared store may queue: the signal ends that wait, too.
    return signal === undefined || !this.#services.store.shared ? answer : orAbort(answer, signal)
  }

  /**
   * Serves what was read if it satisfies the call, and begins a refresh that is due. Nothing while the cache
   * is paused.
   */
  #serve(call: Call, state: CallState, read: Read): Served | undefined {
    if (this.#coordinator.paused) return undefined
    const { storedKey: key, settings } = call
    const now = this.#services.runtime.now()
    state.judge(noteAndJudge(this.#services, call, read, now), now)
    const { verdict } = state
    if (read.kind !== 'found' || (verdict !== 'fresh' && verdict !== 'stale')) return undefined
    const { entry } = read
    const refresh = this.#background.isDue(call, entry, verdict, now)
      ? this.#background.refresh(call, entry, verdict, { read, judgedAt: now, sentAt: undefined }, state.id)
      : undefined
    const served = serveEntry(settings, entry, verdict, { now, role: 'none', state, refresh })
    if (!state.missed) this.#reports.hit(key, entry, verdict, now)
    return served
  }

  /**
   * Claims the key: joins its flight or starts one, and waits. Undefined if that brings nothing for
   * this call.
   */
  #claim(call: Call, state: CallState, read: Read): Promise<Served | undefined> {
    this.#noteMiss(call, state)
    const fallback = state.verdict === 'if-error' && read.kind === 'found' ? read.entry : undefined
    if (fallback !== undefined) state.foundStale = true
    return this.#joiner.joinOrStart(call, { read, judgedAt: state.judgedAt, sentAt: state.readAt }, fallback, state)
  }

  /** Loads without reading the store and without joining. */
  #loadAlone(call: Call, state: CallState): Promise<Served | undefined> {
    this.#noteMiss(call, state)
    return this.#joiner.loadAlone(call, undefined, state, this.#coordinator.paused ? 'paused' : 'uncacheable')
  }

  /**
   * Refuses the call, or emits its first miss.
   *
   * @throws ClosedError; the reason of the caller's signal.
   */
  #noteMiss({ storedKey, settings }: Call, state: CallState): void {
    if (this.#coordinator.closed) throw new ClosedError()
    if (!state.missed) this.#reports.miss(storedKey, state)
    state.missed = true
    settings.signal?.throwIfAborted()
  }
}
