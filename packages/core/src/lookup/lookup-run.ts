import { runRefresh } from '../refresh/refresh-run.ts'
import { type LookupResult, type CallState, serveEntry, identity } from './lookup-result.ts'
import type { Codec } from '../codec.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import { type Call, judgeRead, type StoreRead } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError } from '../errors.ts'
import { Flight } from '../flight/flight.ts'
import { PreviousVersion } from '../flight/previous-version.ts'
import type { Outcome } from '../load.ts'
import { FlightJoiner } from './join-flight.ts'
import type { Settings } from '../options/settings.ts'
import type { Read } from '../store/store.ts'

/** Makes the answer of the called method from the result. */
type OnResult<T> = (result: LookupResult) => T | Promise<T>

/** Runs a call: peek, read, judge; then serve what was found, or join the key's refresh. */
export class LookupRun {
  readonly #engine: Engine
  readonly #coordinator: LoadCoordinator
  readonly #joiner: FlightJoiner

  constructor(coordinator: LoadCoordinator) {
    this.#engine = coordinator.engine
    this.#coordinator = coordinator
    this.#joiner = new FlightJoiner(coordinator)
  }

  /** Returns a fresh entry from this process. Synchronous: the fastest hit awaits nothing. */
  peek(key: string, settings: Settings, codec: Codec = settings.codec): Entry | undefined {
    const { store, runtime, freshness } = this.#engine
    if (!settings.near || this.#coordinator.paused) return undefined
    const now = runtime.coarseNow()
    const entry = store.peek(key, codec, now)
    if (entry === undefined) return undefined
    if (freshness.judge(entry, now, settings) !== 'fresh') return undefined
    return this.#shouldRefreshEarly(key, entry, now, settings) ? undefined : entry
  }

  /** Reads the key's entry, joining a running read; undefined also while the store is away. */
  async read(key: string, codec: Codec): Promise<Entry | undefined> {
    return this.#coordinator.paused
      ? undefined
      : await this.#coordinator.flights.read(key, codec, (read) => this.#entryOf(key, read))
  }

  /** Makes the result of an entry that `peek` returned. */
  serveHit(key: string, entry: Entry): LookupResult {
    const now = this.#engine.runtime.now()
    return serveEntry(this.#engine, key, entry, 'fresh', { now, role: 'none', state: undefined, refresh: undefined })
  }

  /**
   * Runs the call, and resolves to what `onResult` returns. On the path of a hit neither this nor what it calls is an async function: each
   * would cost every hit one more promise.
   */
  run<T>(call: Call, onResult: OnResult<T>): Promise<T> {
    const state = this.#newCallState(call)
    return this.#coordinator.paused || this.#loadsAlone(call.key, state.startedAt)
      ? this.#bypass(call, state).then(onResult)
      : this.#readStore(call, state, onResult)
  }

  /**
   * Whether the call may skip the store, because the key is known to be unshareable. Not while loads queue for a permit: through the store,
   * the callers of one key share one place in the queue.
   */
  #loadsAlone(key: string, now: number): boolean {
    return this.#coordinator.unshareable.holds(key, now) && this.#engine.admission.hasPermit
  }

  /** Refreshes now, however fresh the entry is: joins the running refresh, or asks for the lease. A newer entry is served like any other. */
  forceRefresh(call: Call): Promise<LookupResult> {
    return this.run({ ...call, previousVersion: new PreviousVersion() }, identity)
  }

  #newCallState({ settings }: Call): CallState {
    const now = this.#engine.runtime.now()
    return { startedAt: now, readAt: now, hasWaited: false, waitBudget: settings.waitTimeout }
  }

  #readStore<T>(call: Call, state: CallState, onResult: OnResult<T>): Promise<T> {
    return this.#coordinator.flights.read(call.key, call.settings.codec, (read) =>
      this.#onRead(call, state, read, onResult),
    )
  }

  #readAgain<T>(call: Call, state: CallState, onResult: OnResult<T>): Promise<T> {
    state.readAt = this.#engine.runtime.now()
    return this.#readStore(call, state, onResult)
  }

  /** Serves what was read if it satisfies the call; otherwise joins the key's refresh. */
  #onRead<T>(call: Call, state: CallState, read: Read, onResult: OnResult<T>): T | Promise<T> {
    const { key, settings } = call
    const entry = this.#entryOf(key, read)
    const now = this.#engine.runtime.now()
    const verdict = judgeRead(this.#engine, call, read, now)
    if (entry === undefined || (verdict !== 'fresh' && verdict !== 'stale')) {
      const storeRead = { read, at: now, took: now - state.readAt }
      return this.#joinRefresh(call, storeRead, verdict === 'if-error' ? entry : undefined, state, onResult)
    }
    const refreshes = verdict === 'stale' || this.#shouldRefreshEarly(key, entry, now, settings)
    const refresh = refreshes ? this.#refreshInBackground(call, entry, { read, at: now, took: 0 }) : undefined
    return onResult(serveEntry(this.#engine, key, entry, verdict, { now, role: 'none', state, refresh }))
  }

  #shouldRefreshEarly(key: string, entry: Entry, now: number, { earlyRefresh: early }: Settings): boolean {
    return early !== undefined && this.#engine.earlyRefresh.due(key, entry, now, early)
  }

  /** Reads again when the refresh has no result for this call. */
  #joinRefresh<T>(
    call: Call,
    storeRead: StoreRead,
    fallback: Entry | undefined,
    state: CallState,
    onResult: OnResult<T>,
  ): T | Promise<T> {
    this.#checkMayWait(call, state)
    return this.#joiner.joinOrStart(call, storeRead, fallback, state, (result) =>
      result === undefined ? this.#readAgain(call, state, onResult) : onResult(result),
    )
  }

  /** Loads without reading the store and without joining. */
  async #bypass(call: Call, state: CallState): Promise<LookupResult> {
    this.#checkMayWait(call, state)
    return await this.#joiner.loadAlone(call, state)
  }

  /**
   * Emits the miss. A call that nothing in hand satisfies may still be refused here, and not later.
   *
   * @throws ClosedError; ReentrantLoadError; the reason of the caller's signal.
   */
  #checkMayWait({ key, settings }: Call, state: CallState): void {
    const { admission, events } = this.#engine
    if (this.#coordinator.closed) throw new ClosedError()
    admission.checkReentrancy(key)
    if (!state.hasWaited && events.hasListeners('miss')) events.emit('miss', { key })
    state.hasWaited = true
    settings.signal?.throwIfAborted()
  }

  /** Starts a refresh that no caller waits for, unless one runs in this process or is known to run in another. */
  #refreshInBackground(call: Call, entry: Entry, storeRead: StoreRead): Promise<Outcome> | undefined {
    const { runtime } = this.#engine
    const { flights, suppression } = this.#coordinator
    const running = flights.joinable(call.key)
    if (running !== undefined) return running.outcome
    if (this.#coordinator.closed) return undefined
    if (suppression.holds(call.key, entry.version, storeRead.at)) return undefined
    const flight = new Flight(call.key, true)
    flights.launch(flight, runRefresh(flight, call, storeRead, this.#coordinator))
    void flight.outcome.then((outcome) => {
      // An error that is no failure starts no cooldown. Without this pause every stale hit would load again.
      if (outcome.kind !== 'failed' || outcome.cooldown > 0) return
      suppression.add(call.key, entry.version, runtime.now() + call.settings.cooldown.max)
    })
    return flight.outcome
  }

  /** Returns the entry of a read; emits the event of one that could not be decoded. */
  #entryOf(key: string, read: Read): Entry | undefined {
    if (read.kind === 'found') return read.entry
    const { events } = this.#engine
    const because = read.kind === 'missing' ? read.because : undefined
    if (because !== undefined && events.hasListeners('unreadable'))
      events.emit('unreadable', { key, why: because.why, error: because.cause })
    return undefined
  }
}
