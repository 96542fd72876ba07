import { fly, flyAlone, type Look } from './acquire.ts'
import type { EndTurn } from './admission.ts'
import type { Codec } from './codec.ts'
import type { Call, Engine } from './engine.ts'
import type { Entry } from './entry.ts'
import { ClosedError, TooManyWaitersError, WaitTimeoutError } from './errors.ts'
import type { Deck } from './deck.ts'
import { Flight, type Landing } from './flight.ts'
import type { Outcome } from './load.ts'
import { type Answer, fromEntry, fromLoad } from './lookup.ts'
import type { Settings } from './settings.ts'
import type { Read } from './store/store.ts'
import { type GaveUp, waitFor } from './wait.ts'

/** What a call carries from one look to the next. */
interface Progress {
  readonly began: number
  /** When it asked the store last. */
  asked: number
  /** Whether the call has had to wait for a load. */
  waits: boolean
  /** What is left of `waitTimeout`, ms. */
  budget: number
}

/** What is made of the answer for who asked. */
type Give<T> = (answer: Answer) => T | Promise<T>

/** One part of a call's road: the flight it waits for, and what it may fall back on. */
interface Ride {
  readonly call: Call
  readonly flight: Flight
  readonly own: Flight | undefined
  readonly fallback: Entry | undefined
  readonly progress: Progress
}

/** How an entry comes to answer a call. */
interface Serving {
  readonly status: 'fresh' | 'stale'
  readonly role: 'none' | 'follower'
  readonly progress?: Progress | undefined
  readonly refresh?: Promise<Outcome> | undefined
}

/** The road of one call: peek → read → judge → acquire → lead or follow. */
export class Refresher {
  readonly #engine: Engine
  readonly #deck: Deck

  constructor(deck: Deck) {
    this.#engine = deck.engine
    this.#deck = deck
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
    return this.#serve(key, entry, this.#engine.runtime.now(), { status: 'fresh', role: 'none' })
  }

  /**
   * The whole road, and what `give` makes of the answer at its end. As far as a hit goes this is no async function, nor is what it calls: each
   * would cost a hit one more promise.
   */
  walk<T>(call: Call, give: Give<T>): Promise<T> {
    const progress = this.#set(call)
    return this.#deck.paused ? this.#past(call, progress).then(give) : this.#step(call, progress, give)
  }

  #step<T>(call: Call, progress: Progress, give: Give<T>): Promise<T> {
    progress.asked = this.#engine.runtime.now()
    return this.#deck.flights.read(call.key, call.settings.codec, (read) => this.#arrived(call, progress, read, give))
  }

  /** What was read serves the call as it is, or the call takes part in the key's refresh. */
  #arrived<T>(call: Call, progress: Progress, read: Read, give: Give<T>): T | Promise<T> {
    const { runtime, freshness } = this.#engine
    const entry = this.#found(call.key, read)
    const now = runtime.now()
    const verdict = entry === undefined ? 'gone' : freshness.judge(entry, now, call.settings)
    if (entry === undefined || (verdict !== 'fresh' && verdict !== 'stale'))
      return this.#wait(
        call,
        { read, took: now - progress.asked },
        verdict === 'if-error' ? entry : undefined,
        progress,
        give,
      )
    const behind = verdict === 'stale' || this.#isDue(call.key, entry, now, call.settings)
    const refresh = behind ? this.#behind(call, entry, read) : undefined
    return give(this.#serve(call.key, entry, now, { status: verdict, role: 'none', progress, refresh }))
  }

  /** Whether it is to be refreshed although it is fresh. */
  #isDue(key: string, entry: Entry, now: number, { earlyRefresh: early }: Settings): boolean {
    return early !== undefined && this.#engine.earlyRefresh.due(key, entry, now, early)
  }

  /** Looks again where the refresh has nothing for this call. A herd goes this way: no async function here either. */
  #wait<T>(call: Call, look: Look, fallback: Entry | undefined, progress: Progress, give: Give<T>): Promise<T> {
    this.#beforeWaiting(call, progress)
    return this.#ride(call, look, fallback, progress).then((answer) => {
      if (answer !== undefined) return give(answer)
      return this.#step(call, progress, give)
    })
  }

  /** A load now, whatever the entry's age: joins the refresh that runs, or asks for the lease. */
  async renew(call: Call): Promise<Answer> {
    const progress = this.#set(call)
    if (this.#deck.paused) return await this.#past(call, progress)
    const first = await this.#look(call)
    // The value that is there is not what is asked for, whoever leads.
    const not = first.read.kind === 'found' ? first.read.entry.version : undefined
    for (let look = first; ; look = await this.#look(call)) {
      const entry = this.#found(call.key, look.read)
      const newer = not === undefined || entry?.version === not ? undefined : entry
      const served = this.#serveIfUsable(call, newer, { role: 'follower', progress })
      if (served !== undefined) return served
      this.#beforeWaiting(call, progress)
      const answer = await this.#ride({ ...call, not }, look, undefined, progress)
      if (answer !== undefined) return answer
    }
  }

  #look({ key, settings }: Call): Promise<Look> {
    const { runtime } = this.#engine
    const asked = runtime.now()
    return this.#deck.flights.read(key, settings.codec, (read) => ({ read, took: runtime.now() - asked }))
  }

  #set({ settings }: Call): Progress {
    const now = this.#engine.runtime.now()
    return { began: now, asked: now, waits: false, budget: settings.waitTimeout }
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

  /** Takes part in the key's refresh; undefined when the call is to look again. */
  #ride(call: Call, look: Look, fallback: Entry | undefined, progress: Progress): Promise<Answer | undefined> {
    const { runtime, events, admission } = this.#engine
    const joined = this.#deck.flights.joinable(call.key)
    const flight = joined ?? new Flight(call.key, false)
    const ride = { call, flight, own: joined === undefined ? flight : undefined, fallback, progress }
    const stopWaiting = admission.startWaiting(call.key, flight.callers, call.party)
    if (stopWaiting === undefined) return Promise.resolve(this.#fallBack(ride, new TooManyWaitersError(call.key)))
    const seat = flight.board(joined === undefined ? 'owner' : 'joiner')
    if (joined === undefined) this.#launch(flight, fly(flight, call, look, this.#deck))
    else {
      call.onWait?.()
      if (events.heard('join')) events.emit('join', { key: call.key })
    }
    const followed = flight.followed(runtime.now())
    const soft = fallback === undefined ? Infinity : call.settings.softTimeout
    const patience = { soft, budget: progress.budget, signal: call.settings.signal }
    return waitFor(flight, seat, patience, this.#engine, stopWaiting).then((landing) => {
      progress.budget -= flight.followed(runtime.now()) - followed
      return this.#arrive(landing, ride)
    })
  }

  #arrive(landing: Landing | GaveUp, ride: Ride): Answer | undefined | Promise<Answer> {
    const { call, flight, own, fallback, progress } = ride
    switch (landing.kind) {
      case 'again':
        return undefined
      case 'alone':
        return this.#alone(call, progress)
      case 'loaded':
        return fromLoad(landing.value, landing.freshFor, this.#waited(progress), own)
      case 'found':
        // Found by the flight's owner, who may have been easier to please.
        return this.#serveIfUsable(call, landing.entry, { role: 'follower', progress })
      case 'failed':
        if (landing.failure) return this.#fallBack(ride, landing.error)
        throw landing.error
      case 'gave-up':
        if (landing.why !== 'soft-timeout') return this.#waitTimedOut(ride)
        // The stale value that the load took too long to replace; where its window closed meanwhile, the call looks again.
        return this.#serveIfUsable(call, fallback, { role: 'none', progress, refresh: flight.outcome })
    }
  }

  /** A stale value first; then an error, or, where the call asked for it and there is room, a load of its own. */
  #waitTimedOut(ride: Ride): Answer | Promise<Answer> {
    const { call, flight, progress, fallback } = ride
    const { events, admission } = this.#engine
    if (events.heard('wait-timeout')) events.emit('wait-timeout', { key: call.key, waited: this.#waited(progress) })
    const turn = fallback === undefined && call.settings.onWaitTimeout === 'load' ? admission.turn() : undefined
    if (turn !== undefined) return this.#alone(call, progress, turn)
    return this.#fallBack(ride, new WaitTimeoutError(call.key, call.settings.waitTimeout), flight.outcome)
  }

  /** The stale value that was in hand all the time, if its window is still open; else the error. */
  #fallBack({ call, fallback, progress }: Ride, error: unknown, refresh?: Promise<Outcome>): Answer {
    const answer = this.#serveIfUsable(call, fallback, { role: 'none', progress, refresh })
    if (answer === undefined) throw error
    return answer
  }

  /** As if there were no cache. */
  async #past(call: Call, progress: Progress): Promise<Answer> {
    this.#beforeWaiting(call, progress)
    return await this.#alone(call, progress)
  }

  /** A load for this caller alone, stored nowhere and joined by nobody. */
  async #alone(call: Call, progress: Progress, turn?: EndTurn): Promise<Answer> {
    const { admission } = this.#engine
    if (this.#deck.closed) throw new ClosedError()
    const stopWaiting = admission.startWaiting(call.key, 0, call.party)
    if (stopWaiting === undefined) throw new TooManyWaitersError(call.key)
    const flight = new Flight(call.key, false)
    flight.detach()
    const seat = flight.board('owner')
    this.#launch(flight, flyAlone(flight, call, this.#deck, turn))
    // With a turn in hand nothing is waited for but the load.
    const budget = turn === undefined ? Math.max(0, progress.budget) : Infinity
    const patience = { soft: Infinity, budget, signal: call.settings.signal }
    const landing = await waitFor(flight, seat, patience, this.#engine, stopWaiting)
    if (landing.kind === 'loaded') return fromLoad(landing.value, 0, this.#waited(progress), flight)
    throw landing.kind === 'failed' ? landing.error : new WaitTimeoutError(call.key, call.settings.waitTimeout)
  }

  /** Starts a refresh that nobody waits for, unless one runs, here or, as far as we know, elsewhere. */
  #behind(call: Call, entry: Entry, read: Read): Promise<Outcome> | undefined {
    const { runtime } = this.#engine
    const running = this.#deck.flights.joinable(call.key)
    if (running !== undefined) return running.outcome
    if (this.#deck.closed) return undefined
    if (this.#deck.suppression.holds(call.key, entry.version, runtime.now())) return undefined
    const flight = new Flight(call.key, true)
    this.#launch(flight, fly(flight, call, { read, took: 0 }, this.#deck))
    void flight.outcome.then((outcome) => {
      // An error that is no failure cools nothing down: without a pause of our own, every stale hit would try again.
      if (outcome.kind !== 'failed' || outcome.cooldown > 0) return
      this.#deck.suppression.add(call.key, entry.version, runtime.now() + call.settings.cooldown.max)
    })
    return flight.outcome
  }

  #launch(flight: Flight, road: Promise<void>): void {
    this.#deck.flights.add(flight)
    void road.then(() => this.#deck.flights.remove(flight))
  }

  #found(key: string, read: Read): Entry | undefined {
    if (read.kind === 'found') return read.entry
    const { events } = this.#engine
    const because = read.kind === 'missing' ? read.because : undefined
    if (because !== undefined && events.heard('unreadable'))
      events.emit('unreadable', { key, why: because.why, error: because.cause })
    return undefined
  }

  /** Serves an entry to a call that has waited, unless its last window has closed. */
  #serveIfUsable(call: Call, entry: Entry | undefined, serving: Omit<Serving, 'status'>): Answer | undefined {
    if (entry === undefined) return undefined
    const now = this.#engine.runtime.now()
    const verdict = this.#engine.freshness.judge(entry, now, call.settings)
    if (verdict === 'gone') return undefined
    return this.#serve(call.key, entry, now, { ...serving, status: verdict === 'fresh' ? 'fresh' : 'stale' })
  }

  #serve(key: string, entry: Entry, now: number, { status, role, progress, refresh }: Serving): Answer {
    const { events } = this.#engine
    const answer = fromEntry(entry, { now, status, role, waited: this.#waited(progress), refresh })
    const { age, freshFor } = answer.lookup
    if (events.heard('hit')) events.emit('hit', { key, status, age, freshFor })
    return answer
  }

  #waited(progress: Progress | undefined): number {
    return progress?.waits === true ? this.#engine.runtime.now() - progress.began : 0
  }
}
