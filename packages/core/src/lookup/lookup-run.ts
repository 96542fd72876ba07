import { fly } from '../refresh/refresh-run.ts'
import { type Answer, type Progress, serve, wholeOf } from './lookup-result.ts'
import type { Codec } from '../codec.ts'
import type { Deck } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import { type Call, type Look, verdictOn } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError } from '../errors.ts'
import { Flight } from '../flight/flight.ts'
import { Former } from '../flight/previous-version.ts'
import type { Outcome } from '../load.ts'
import { Rides } from './join-flight.ts'
import type { Settings } from '../options/settings.ts'
import type { Read } from '../store/store.ts'

/** What is made of the answer for who asked. */
type Give<T> = (answer: Answer) => T | Promise<T>

/** The road of one call: peek → read → judge, and where nothing in hand will do, a ride. */
export class Refresher {
  readonly #engine: Engine
  readonly #deck: Deck
  readonly #rides: Rides

  constructor(deck: Deck) {
    this.#engine = deck.engine
    this.#deck = deck
    this.#rides = new Rides(deck)
  }

  /** A fresh entry that is at hand in this process: nothing is awaited for it. */
  peek(key: string, settings: Settings, codec: Codec = settings.codec): Entry | undefined {
    const { store, runtime, freshness } = this.#engine
    if (!settings.near || this.#deck.paused) return undefined
    const now = runtime.coarseNow()
    const entry = store.peek(key, codec, now)
    if (entry === undefined) return undefined
    if (freshness.judge(entry, now, settings) !== 'fresh') return undefined
    return this.#isDue(key, entry, now, settings) ? undefined : entry
  }

  /** The entry of the key, by a read that is joined with every other that is under way; a store that is away has none. */
  async read(key: string, codec: Codec): Promise<Entry | undefined> {
    return this.#deck.paused ? undefined : await this.#deck.flights.read(key, codec, (read) => this.#found(key, read))
  }

  /** Answers a call from an entry that was at hand. */
  serve(key: string, entry: Entry): Answer {
    const now = this.#engine.runtime.now()
    return serve(this.#engine, key, entry, 'fresh', { now, role: 'none', progress: undefined, refresh: undefined })
  }

  /**
   * The whole road, and what `give` makes of the answer at its end. As far as a hit goes this is no async function, nor is what it calls: each
   * would cost a hit one more promise.
   */
  walk<T>(call: Call, give: Give<T>): Promise<T> {
    const progress = this.#set(call)
    return this.#deck.paused || this.#loadsAlone(call.key, progress.began)
      ? this.#past(call, progress).then(give)
      : this.#step(call, progress, give)
  }

  /** Known to be unshareable. Where loads queue for a turn, though, the callers of one key queue as one, which is the long road. */
  #loadsAlone(key: string, now: number): boolean {
    return this.#deck.unshareable.holds(key, now) && this.#engine.admission.hasTurn
  }

  /** A load now, whatever the entry's age: joins the refresh that runs, or asks for the lease. What is newer is a hit like any other. */
  renew(call: Call): Promise<Answer> {
    return this.walk({ ...call, former: new Former() }, wholeOf)
  }

  #set({ settings }: Call): Progress {
    const now = this.#engine.runtime.now()
    return { began: now, asked: now, waits: false, budget: settings.waitTimeout }
  }

  #step<T>(call: Call, progress: Progress, give: Give<T>): Promise<T> {
    return this.#deck.flights.read(call.key, call.settings.codec, (read) => this.#arrived(call, progress, read, give))
  }

  #again<T>(call: Call, progress: Progress, give: Give<T>): Promise<T> {
    progress.asked = this.#engine.runtime.now()
    return this.#step(call, progress, give)
  }

  /** What was read serves the call as it is, or the call takes part in the key's refresh. */
  #arrived<T>(call: Call, progress: Progress, read: Read, give: Give<T>): T | Promise<T> {
    const { key, settings } = call
    call.former?.note(read)
    const entry = this.#found(key, read)
    const now = this.#engine.runtime.now()
    const verdict = entry === undefined ? 'gone' : verdictOn(this.#engine, call, entry, now)
    if (entry === undefined || (verdict !== 'fresh' && verdict !== 'stale')) {
      const look = { read, at: now, took: now - progress.asked }
      return this.#wait(call, look, verdict === 'if-error' ? entry : undefined, progress, give)
    }
    const behind = verdict === 'stale' || this.#isDue(key, entry, now, settings)
    const refresh = behind ? this.#behind(call, entry, { read, at: now, took: 0 }) : undefined
    return give(serve(this.#engine, key, entry, verdict, { now, role: 'none', progress, refresh }))
  }

  /** Whether it is to be refreshed although it is fresh. */
  #isDue(key: string, entry: Entry, now: number, { earlyRefresh: early }: Settings): boolean {
    return early !== undefined && this.#engine.earlyRefresh.due(key, entry, now, early)
  }

  /** Looks again where the refresh has nothing for this call. */
  #wait<T>(call: Call, look: Look, fallback: Entry | undefined, progress: Progress, give: Give<T>): T | Promise<T> {
    this.#beforeWaiting(call, progress)
    return this.#rides.take(call, look, fallback, progress, (answer) =>
      answer === undefined ? this.#again(call, progress, give) : give(answer),
    )
  }

  /** As if there were no cache: nobody asks the store, and nobody joins. */
  async #past(call: Call, progress: Progress): Promise<Answer> {
    this.#beforeWaiting(call, progress)
    return await this.#rides.alone(call, progress)
  }

  /** Nothing in hand will do: the last moment at which the call may still be refused for what it is. */
  #beforeWaiting({ key, settings }: Call, progress: Progress): void {
    const { admission, events } = this.#engine
    if (this.#deck.closed) throw new ClosedError()
    admission.check(key)
    if (!progress.waits && events.heard('miss')) events.emit('miss', { key })
    progress.waits = true
    settings.signal?.throwIfAborted()
  }

  /** Starts a refresh that nobody waits for, unless one runs, here or, as far as we know, elsewhere. */
  #behind(call: Call, entry: Entry, look: Look): Promise<Outcome> | undefined {
    const { runtime } = this.#engine
    const { flights, suppression } = this.#deck
    const running = flights.joinable(call.key)
    if (running !== undefined) return running.outcome
    if (this.#deck.closed) return undefined
    if (suppression.holds(call.key, entry.version, look.at)) return undefined
    const flight = new Flight(call.key, true)
    flights.launch(flight, fly(flight, call, look, this.#deck))
    void flight.outcome.then((outcome) => {
      // An error that is no failure cools nothing down: without a pause of our own, every stale hit would try again.
      if (outcome.kind !== 'failed' || outcome.cooldown > 0) return
      suppression.add(call.key, entry.version, runtime.now() + call.settings.cooldown.max)
    })
    return flight.outcome
  }

  #found(key: string, read: Read): Entry | undefined {
    if (read.kind === 'found') return read.entry
    const { events } = this.#engine
    const because = read.kind === 'missing' ? read.because : undefined
    if (because !== undefined && events.heard('unreadable'))
      events.emit('unreadable', { key, why: because.why, error: because.cause })
    return undefined
  }
}
