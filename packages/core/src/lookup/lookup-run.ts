import { runRefresh } from '../refresh/refresh-run.ts'
import { type LookupResult, type CallState, serve, identity } from './lookup-result.ts'
import type { Codec } from '../codec.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import { type Call, type StoreRead, verdictOn } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError } from '../errors.ts'
import { Flight } from '../flight/flight.ts'
import { PreviousVersion } from '../flight/previous-version.ts'
import type { Outcome } from '../load.ts'
import { FlightJoiner } from './join-flight.ts'
import type { Settings } from '../options/settings.ts'
import type { Read } from '../store/store.ts'

/** What is made of the answer for who asked. */
type OnResult<T> = (answer: LookupResult) => T | Promise<T>

/** The road of one call: peek → read → judge, and where nothing in hand will do, a ride. */
export class LookupRun {
  readonly #engine: Engine
  readonly #coordinator: LoadCoordinator
  readonly #joiner: FlightJoiner

  constructor(coordinator: LoadCoordinator) {
    this.#engine = coordinator.engine
    this.#coordinator = coordinator
    this.#joiner = new FlightJoiner(coordinator)
  }

  /** A fresh entry that is at hand in this process: nothing is awaited for it. */
  peek(key: string, settings: Settings, codec: Codec = settings.codec): Entry | undefined {
    const { store, runtime, freshness } = this.#engine
    if (!settings.near || this.#coordinator.paused) return undefined
    const now = runtime.coarseNow()
    const entry = store.peek(key, codec, now)
    if (entry === undefined) return undefined
    if (freshness.judge(entry, now, settings) !== 'fresh') return undefined
    return this.#isDue(key, entry, now, settings) ? undefined : entry
  }

  /** The entry of the key, by a read that is joined with every other that is under way; a store that is away has none. */
  async read(key: string, codec: Codec): Promise<Entry | undefined> {
    return this.#coordinator.paused
      ? undefined
      : await this.#coordinator.flights.read(key, codec, (read) => this.#entryOf(key, read))
  }

  /** Answers a call from an entry that was at hand. */
  serve(key: string, entry: Entry): LookupResult {
    const now = this.#engine.runtime.now()
    return serve(this.#engine, key, entry, 'fresh', { now, role: 'none', progress: undefined, refresh: undefined })
  }

  /**
   * The whole road, and what `give` makes of the answer at its end. As far as a hit goes this is no async function, nor is what it calls: each
   * would cost a hit one more promise.
   */
  run<T>(call: Call, onResult: OnResult<T>): Promise<T> {
    const progress = this.#newCallState(call)
    return this.#coordinator.paused || this.#loadsAlone(call.key, progress.began)
      ? this.#bypass(call, progress).then(onResult)
      : this.#readStore(call, progress, onResult)
  }

  /** Known to be unshareable. Where loads queue for a turn, though, the callers of one key queue as one, which is the long road. */
  #loadsAlone(key: string, now: number): boolean {
    return this.#coordinator.unshareable.holds(key, now) && this.#engine.admission.hasPermit
  }

  /** A load now, whatever the entry's age: joins the refresh that runs, or asks for the lease. What is newer is a hit like any other. */
  forceRefresh(call: Call): Promise<LookupResult> {
    return this.run({ ...call, previousVersion: new PreviousVersion() }, identity)
  }

  #newCallState({ settings }: Call): CallState {
    const now = this.#engine.runtime.now()
    return { began: now, readAt: now, waits: false, budget: settings.waitTimeout }
  }

  #readStore<T>(call: Call, progress: CallState, onResult: OnResult<T>): Promise<T> {
    return this.#coordinator.flights.read(call.key, call.settings.codec, (read) =>
      this.#judge(call, progress, read, onResult),
    )
  }

  #readAgain<T>(call: Call, progress: CallState, onResult: OnResult<T>): Promise<T> {
    progress.readAt = this.#engine.runtime.now()
    return this.#readStore(call, progress, onResult)
  }

  /** What was read serves the call as it is, or the call takes part in the key's refresh. */
  #judge<T>(call: Call, progress: CallState, read: Read, onResult: OnResult<T>): T | Promise<T> {
    const { key, settings } = call
    call.previousVersion?.note(read)
    const entry = this.#entryOf(key, read)
    const now = this.#engine.runtime.now()
    const verdict = entry === undefined ? 'gone' : verdictOn(this.#engine, call, entry, now)
    if (entry === undefined || (verdict !== 'fresh' && verdict !== 'stale')) {
      const look = { read, at: now, took: now - progress.readAt }
      return this.#joinRefresh(call, look, verdict === 'if-error' ? entry : undefined, progress, onResult)
    }
    const behind = verdict === 'stale' || this.#isDue(key, entry, now, settings)
    const refresh = behind ? this.#refreshBehind(call, entry, { read, at: now, took: 0 }) : undefined
    return onResult(serve(this.#engine, key, entry, verdict, { now, role: 'none', progress, refresh }))
  }

  /** Whether it is to be refreshed although it is fresh. */
  #isDue(key: string, entry: Entry, now: number, { earlyRefresh: early }: Settings): boolean {
    return early !== undefined && this.#engine.earlyRefresh.due(key, entry, now, early)
  }

  /** Looks again where the refresh has nothing for this call. */
  #joinRefresh<T>(
    call: Call,
    look: StoreRead,
    fallback: Entry | undefined,
    progress: CallState,
    onResult: OnResult<T>,
  ): T | Promise<T> {
    this.#checkMayWait(call, progress)
    return this.#joiner.joinOrStart(call, look, fallback, progress, (answer) =>
      answer === undefined ? this.#readAgain(call, progress, onResult) : onResult(answer),
    )
  }

  /** As if there were no cache: nobody asks the store, and nobody joins. */
  async #bypass(call: Call, progress: CallState): Promise<LookupResult> {
    this.#checkMayWait(call, progress)
    return await this.#joiner.loadAlone(call, progress)
  }

  /** Nothing in hand will do: the last moment at which the call may still be refused for what it is. */
  #checkMayWait({ key, settings }: Call, progress: CallState): void {
    const { admission, events } = this.#engine
    if (this.#coordinator.closed) throw new ClosedError()
    admission.checkReentrancy(key)
    if (!progress.waits && events.hasListeners('miss')) events.emit('miss', { key })
    progress.waits = true
    settings.signal?.throwIfAborted()
  }

  /** Starts a refresh that nobody waits for, unless one runs, here or, as far as we know, elsewhere. */
  #refreshBehind(call: Call, entry: Entry, look: StoreRead): Promise<Outcome> | undefined {
    const { runtime } = this.#engine
    const { flights, suppression } = this.#coordinator
    const running = flights.joinable(call.key)
    if (running !== undefined) return running.outcome
    if (this.#coordinator.closed) return undefined
    if (suppression.holds(call.key, entry.version, look.at)) return undefined
    const flight = new Flight(call.key, true)
    flights.launch(flight, runRefresh(flight, call, look, this.#coordinator))
    void flight.outcome.then((outcome) => {
      // An error that is no failure cools nothing down: without a pause of our own, every stale hit would try again.
      if (outcome.kind !== 'failed' || outcome.cooldown > 0) return
      suppression.add(call.key, entry.version, runtime.now() + call.settings.cooldown.max)
    })
    return flight.outcome
  }

  #entryOf(key: string, read: Read): Entry | undefined {
    if (read.kind === 'found') return read.entry
    const { events } = this.#engine
    const because = read.kind === 'missing' ? read.because : undefined
    if (because !== undefined && events.hasListeners('unreadable'))
      events.emit('unreadable', { key, why: because.why, error: because.cause })
    return undefined
  }
}
