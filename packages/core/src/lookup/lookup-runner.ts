import { refreshInBackground } from '../refresh/background-refresh.ts'
import { CallState, identity, lookupOf, type LookupResult, serveEntry, valueOf } from './lookup-result.ts'
import type { Codec } from '../codec/codec.ts'
import { emitAnswer } from './emit-answer.ts'
import { awaitedCall, newAwaiters } from '../flight/awaited-call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Flight } from '../flight/flight.ts'
import type { PermitSource } from '../flight/permits.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import { type Call, noteAndJudge, numberCall, SingleCall, type TimedRead } from '../flight/call.ts'
import { ageOf, type Entry, freshForOf, promiseOf } from '../entry.ts'
import { ClosedError } from '../errors.ts'
import type { EventChannel } from '../events/events.ts'
import { PreviousVersion } from '../flight/previous-version.ts'
import type { Loader } from '../load.ts'
import type { Lookup } from './lookup.ts'
import { orAbort } from './abort-listeners.ts'
import { FlightJoiner, type OnContinue } from './join-flight.ts'
import type { Settings } from '../options/settings.ts'
import type { Activity } from '../history/stats.ts'
import type { Read } from '../store/answers.ts'

/** Makes the answer of the called method from the result. */
type OnResult<T> = (result: LookupResult) => T | Promise<T>

/** Runs the calls of a cache, or of a view of it. Each call peeks, reads and judges; then it is served the entry, or joins the key's refresh. */
export class LookupRunner {
  readonly #services: EngineServices
  readonly #coordinator: LoadCoordinator
  readonly #permits: PermitSource
  readonly #joiner: FlightJoiner
  readonly #hitChannel: EventChannel
  readonly #staleHitChannel: EventChannel
  readonly #activity: Activity

  constructor(coordinator: LoadCoordinator, permits: PermitSource) {
    this.#services = coordinator.services
    this.#coordinator = coordinator
    this.#permits = permits
    this.#joiner = new FlightJoiner(coordinator)
    const { activity, events } = coordinator.services
    this.#activity = activity
    this.#hitChannel = events.channelOf('hit')
    this.#staleHitChannel = events.channelOf('stale-hit')
  }

  /** Returns a fresh entry from this process, unless its early refresh is due. Synchronous: the fastest hit awaits nothing. */
  peek(key: string, settings: Settings, codec: Codec = settings.codec): Entry | undefined {
    const now = this.#services.runtime.coarseNow()
    const entry = this.#freshEntry(key, settings, codec, now)
    return entry === undefined || this.#shouldRefreshEarly(key, entry, now, settings) ? undefined : entry
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

  /** Resolves to the value. It takes the members of a `Call` one by one, so that a hit allocates none. */
  value(storedKey: string, requestedKey: string, loader: Loader<unknown, never>, settings: Settings): Promise<unknown> {
    const entry = this.peek(storedKey, settings)
    if (entry === undefined) return this.#runForValue(storedKey, requestedKey, loader, settings)
    this.#activity.fresh[entry.from] += 1
    if (this.#hitChannel.hasListeners) this.#emitFreshHit(storedKey, entry)
    return promiseOf(entry)
  }

  /** Resolves to the value and where it came from. */
  lookup(call: Call): Promise<Lookup<unknown>> {
    const { storedKey: key, settings } = call
    const entry = this.peek(key, settings)
    if (entry === undefined) return this.run(call, this.#lookupOf)
    const options = { now: this.#services.runtime.now(), role: 'none', state: undefined, refresh: undefined } as const
    const result = serveEntry(settings, entry, 'fresh', options)
    this.noteHit(key, entry)
    return Promise.resolve(this.#lookupOf(result))
  }

  readonly #lookupOf: OnResult<Lookup<unknown>> = (result) => lookupOf(result, this.#services.admission)

  /** Counts and emits the hit of an entry that `peek` returned. */
  noteHit(key: string, entry: Entry): void {
    this.#activity.fresh[entry.from] += 1
    if (this.#hitChannel.hasListeners) this.#emitFreshHit(key, entry)
  }

  #emitFreshHit(key: string, entry: Entry): void {
    this.#emitHit(key, entry, 'fresh', this.#services.runtime.coarseNow())
  }

  /** Counts and emits a hit of an entry that the store returned. */
  #noteStoreHit(key: string, entry: Entry, verdict: 'fresh' | 'stale', now: number): void {
    this.#activity[verdict][entry.from] += 1
    const listened = this.#hitChannel.hasListeners || (verdict === 'stale' && this.#staleHitChannel.hasListeners)
    if (listened) this.#emitHit(key, entry, verdict, now)
  }

  /** Whole events, given to their channels: `Events.emit` finds the channel and completes the event, which costs a hit about as much as its listener does. */
  #emitHit(key: string, entry: Entry, status: 'fresh' | 'stale', now: number): void {
    const { from, size } = entry
    const cache = this.#services.events.cacheName
    const age = ageOf(entry, now)
    const freshFor = freshForOf(entry, status === 'fresh', now)
    this.#hitChannel.emit({ key, status, from, age, freshFor, size, type: 'hit', cache })
    if (status === 'stale') this.#staleHitChannel.emit({ key, from, age, freshFor, type: 'stale-hit', cache })
  }

  /**
   * Runs the call, and resolves to what `onResult` returns. On the path of a hit neither this nor what it calls is an async function: each
   * would cost every hit one more promise.
   */
  run<T>(call: Call, onResult: OnResult<T>): Promise<T> {
    const state = this.#newCallState(call)
    const answer = this.#services.events.hasListeners('answer')
      ? emitAnswer(this.#services, call.storedKey, state, this.#start(call, state, identity)).then(onResult)
      : this.#start(call, state, onResult)
    // A batch is awaited as a whole.
    return call.batch === undefined ? awaitedCall(answer, state.awaiters) : answer
  }

  #start<T>(call: Call, state: CallState, onResult: OnResult<T>): Promise<T> {
    return this.#coordinator.paused || this.#maySkipStore(call)
      ? this.#bypass(call, state, onResult)
      : this.#readStore(call, state, onResult)
  }

  /** A function of its own, so that V8 can inline the hit. */
  #runForValue(
    storedKey: string,
    requestedKey: string,
    loader: Loader<unknown, never>,
    settings: Settings,
  ): Promise<unknown> {
    return this.run(new SingleCall(storedKey, requestedKey, loader, settings, this.#permits), valueOf)
  }

  /**
   * True when the key is known to be unshareable: the call then loads alone without asking the store. Not while loads queue for a permit:
   * calls that ask the store join one flight, which takes one place in the queue.
   */
  #maySkipStore({ storedKey, permits }: Call): boolean {
    return this.#coordinator.unshareable.holds(storedKey, this.#services.runtime.elapsed()) && permits.permitAvailable
  }

  /** Refreshes now, however fresh the entry is: joins the running refresh, or starts one. An entry that is newer than the first one read is served like any other. */
  forceRefresh(call: Call): Promise<unknown> {
    return this.run({ ...call, previousVersion: new PreviousVersion() }, valueOf)
  }

  #newCallState({ settings, batch }: Call): CallState {
    const awaiters = batch === undefined ? newAwaiters() : batch.awaiters
    return new CallState(numberCall(), this.#services.runtime, settings.waitTimeout, awaiters)
  }

  #readStore<T>(call: Call, state: CallState, onResult: OnResult<T>): Promise<T> {
    const { codec, signal } = call.settings
    const result = this.#coordinator.reads.read(call.storedKey, codec, (read) =>
      this.#onRead(call, state, read, onResult),
    )
    // In a burst the read of a shared store may queue: the signal ends that wait, too.
    return signal === undefined || !this.#services.store.shared ? result : orAbort(result, signal)
  }

  #readAgain<T>(call: Call, state: CallState, onResult: OnResult<T>): Promise<T> {
    state.readAt = this.#services.runtime.elapsed()
    return this.#coordinator.paused ? this.#bypass(call, state, onResult) : this.#readStore(call, state, onResult)
  }

  /** Serves what was read if it satisfies the call; otherwise joins the key's refresh. */
  #onRead<T>(call: Call, state: CallState, read: Read, onResult: OnResult<T>): T | Promise<T> {
    const { storedKey: key, settings } = call
    if (this.#coordinator.paused) return this.#bypass(call, state, onResult)
    const entry = read.kind === 'found' ? read.entry : undefined
    const now = this.#services.runtime.now()
    const verdict = noteAndJudge(this.#services, call, read, now)
    if (entry === undefined || (verdict !== 'fresh' && verdict !== 'stale')) {
      const storeRead = { read, judgedAt: now, sentAt: state.readAt }
      return this.#joinRefresh(call, storeRead, verdict === 'if-error' ? entry : undefined, state, onResult)
    }
    const refreshesEarly = verdict === 'fresh' && this.#shouldRefreshEarly(key, entry, now, settings)
    const refreshes = verdict === 'stale' || refreshesEarly
    const refresh = refreshes
      ? refreshInBackground(call, entry, { read, judgedAt: now, sentAt: undefined }, this.#coordinator, state.id)
      : undefined
    if (refreshesEarly) this.#noteAttempt(key, entry, refresh)
    const result = serveEntry(settings, entry, verdict, { now, role: 'none', state, refresh })
    if (!state.missed) this.#noteStoreHit(key, entry, verdict, now)
    return onResult(result)
  }

  #shouldRefreshEarly(key: string, entry: Entry, now: number, { earlyRefresh: early }: Settings): boolean {
    return early !== undefined && this.#services.earlyRefresh.due(key, entry, now, early) && this.#mayRefresh()
  }

  /** While false, an early refresh could not begin: the call is a hit like any other. */
  #mayRefresh(): boolean {
    const { refreshBudget, runtime } = this.#services
    return this.#permits.permitAvailable && refreshBudget?.mayAsk(runtime.elapsed()) !== false
  }

  /** One attempt per entry that begins, whatever its outcome: until the entry is stale, later calls are hits again, also from the near cache. */
  #noteAttempt(key: string, entry: Entry, refresh: Flight | undefined): void {
    const { earlyRefresh } = this.#services
    earlyRefresh.noteAttempt(key, entry)
    void refresh?.outcome.then((outcome) => {
      if (outcome.kind === 'abandoned' && (outcome.why === 'over-budget' || outcome.why === 'busy'))
        earlyRefresh.withdrawAttempt(key, entry)
    })
  }

  /** Joins the key's refresh or starts it; reads again if it has no result for this call. */
  #joinRefresh<T>(
    call: Call,
    storeRead: TimedRead,
    fallback: Entry | undefined,
    state: CallState,
    onResult: OnResult<T>,
  ): T | Promise<T> {
    this.#checkMiss(call, state)
    if (fallback !== undefined) state.foundStale = true
    return this.#joiner.joinOrStart(call, storeRead, fallback, state, this.#continuation(call, state, onResult))
  }

  /** Loads without reading the store and without joining. */
  async #bypass<T>(call: Call, state: CallState, onResult: OnResult<T>): Promise<T> {
    this.#checkMiss(call, state)
    return await this.#joiner.loadAlone(call, undefined, state, this.#continuation(call, state, onResult))
  }

  #continuation<T>(call: Call, state: CallState, onResult: OnResult<T>): OnContinue<T> {
    return (result) => (result === undefined ? this.#readAgain(call, state, onResult) : onResult(result))
  }

  /**
   * Refuses the call, or emits its first miss.
   *
   * @throws ClosedError; the reason of the caller's signal.
   */
  #checkMiss({ storedKey: key, settings }: Call, state: CallState): void {
    const { events, runtime } = this.#services
    if (this.#coordinator.closed) throw new ClosedError()
    if (!state.missed && events.hasListeners('miss'))
      events.emit('miss', { key, call: state.id, took: runtime.elapsed() - state.startedAt })
    state.missed = true
    settings.signal?.throwIfAborted()
  }
}
