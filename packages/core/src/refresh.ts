import { fly, type FlightDeck } from './acquire.ts'
import type { Codec } from './codec.ts'
import type { Call, Engine } from './engine.ts'
import type { Entry } from './entry.ts'
import { WaitTimeoutError } from './errors.ts'
import { Flight, Flights, type Landing } from './flight.ts'
import { Waiters } from './follow.ts'
import { loadUnleased } from './lead.ts'
import { Suppression } from './lease/suppression.ts'
import type { Outcome } from './load.ts'
import type { Verdict } from './policy/policy.ts'
import type { Settings } from './settings.ts'
import type { Notice, Read } from './store/store.ts'
import { type GaveUp, waitFor } from './wait.ts'

/** A value, and how it came. Times in ms. */
export interface Lookup<V> {
  readonly value: V
  readonly status: 'fresh' | 'stale' | 'loaded'
  readonly from: 'near' | 'store' | 'outage' | 'load'
  /** `leader`: this call's loader ran. `follower`: another call's did, here or elsewhere. `none`: nobody had to load for this answer. */
  readonly role: 'none' | 'leader' | 'follower'
  /** Since the commit; 0 for a value just loaded. */
  readonly age: number
  /** Until it stops being fresh; negative for a stale one. */
  readonly freshFor: number
  /** How long this call waited for a load. */
  readonly waited: number
  /** How the load of this call's own loader ended, when it is over. */
  readonly outcome: Outcome | undefined
  /** A load that goes on behind; never rejects. */
  readonly refresh: Promise<Outcome> | undefined
}

/** An answer on its way to the caller; `own` is the flight that ran this call's loader. */
export interface Answer {
  readonly lookup: Lookup<unknown>
  readonly own: Flight | undefined
}

/** What a call carries from one look to the next. */
interface Progress {
  readonly began: number
  /** Whether the call has had to wait for a load. */
  waits: boolean
  /** What is left of `waitTimeout`, ms. */
  budget: number
}

/** One part of a call's road: the flight it waits for, and what it may fall back on. */
interface Ride {
  readonly call: Call
  readonly flight: Flight
  readonly own: Flight | undefined
  readonly fallback: Entry | undefined
  readonly progress: Progress
}

/** The road of one call: peek → read → judge → acquire → lead or follow. */
export class Refresher {
  readonly #engine: Engine
  readonly #flights: Flights
  readonly #deck: FlightDeck

  constructor(engine: Engine) {
    this.#engine = engine
    this.#flights = new Flights(engine.store)
    this.#deck = { engine, waiters: new Waiters(engine.runtime), suppression: new Suppression() }
  }

  /** A fresh entry that is at hand in this process: nothing is awaited for it. */
  peek(key: string, settings: Settings): Entry | undefined {
    const { store, runtime, freshness } = this.#engine
    const entry = store.peek(key)
    return entry !== undefined && freshness.judge(entry, runtime.coarseNow(), settings) === 'fresh' ? entry : undefined
  }

  /** The entry of the key, by a read that is joined with every other that is under way; a store that is away has none. */
  async read(key: string, codec: Codec): Promise<Entry | undefined> {
    return this.#found(key, await this.#flights.read(key, codec))
  }

  /** Answers a call from an entry that was at hand. */
  serve(key: string, entry: Entry): Answer {
    return this.#serve(key, entry, 'none', { began: 0, waits: false, budget: 0 })
  }

  async walk(call: Call): Promise<Answer> {
    const { runtime, admission, events } = this.#engine
    const progress: Progress = { began: runtime.now(), waits: false, budget: call.settings.waitTimeout }
    for (;;) {
      const read = await this.#flights.read(call.key, call.settings.codec)
      const entry = this.#found(call.key, read)
      const verdict = entry === undefined ? 'gone' : this.#judge(entry, call)
      if (entry !== undefined && verdict === 'fresh') return this.#serve(call.key, entry, 'none', progress)
      if (entry !== undefined && verdict === 'stale')
        return this.#serve(call.key, entry, 'none', progress, this.#behind(call, entry))
      admission.check(call.key)
      if (!progress.waits && events.heard('miss')) events.emit('miss', { key: call.key })
      progress.waits = true
      call.settings.signal?.throwIfAborted()
      const answer = await this.#ride(call, read, verdict === 'if-error' ? entry : undefined, progress)
      if (answer !== undefined) return answer
    }
  }

  /** Handles what the store tells of any process. */
  notice(notice: Notice): void {
    switch (notice.kind) {
      case 'committed':
      case 'released':
        this.#flights.forgetRead(notice.key)
        return this.#wake(notice.key)
      case 'deleted':
      case 'expired':
        return this.invalidated(notice.key)
      case 'tags':
      case 'cleared':
        this.#flights.detachAll()
        return this.#wakeAll()
      case 'deaf':
      case 'hearing':
        this.#engine.events.emit('notices', { state: notice.kind })
        return this.#wakeAll()
      case 'warning':
        return this.#engine.events.emit('warning', { message: notice.message })
    }
  }

  /** Lets go of all that began before an invalidation: it must be over before the invalidation's promise settles. */
  invalidated(key: string): void {
    this.#flights.detach(key)
    this.#wake(key)
  }

  /** Waits for the running loads, at most `drain` ms, then cuts them off. Returns how many had to be. */
  async close(drain: number, reason: unknown): Promise<number> {
    const { runtime } = this.#engine
    const landed = Promise.all([...this.#flights.running].map((flight) => flight.outcome))
    const inTime = new Promise<void>((resolve) => {
      const cancel = runtime.schedule(resolve, drain)
      void landed.then(cancel).then(resolve)
    })
    await inTime
    const late = [...this.#flights.running]
    for (const flight of late) flight.cut?.(reason)
    await Promise.all(late.map((flight) => flight.outcome))
    return late.length
  }

  /** Takes part in the key's refresh; undefined when the call is to look again. */
  async #ride(call: Call, read: Read, fallback: Entry | undefined, progress: Progress): Promise<Answer | undefined> {
    const { runtime, events } = this.#engine
    const joined = this.#flights.joinable(call.key)
    const flight = joined ?? new Flight(call.key, false)
    const seat = flight.board(joined === undefined ? 'owner' : 'joiner')
    if (joined === undefined) this.#launch(flight, fly(flight, call, read, this.#deck))
    else if (events.heard('join')) events.emit('join', { key: call.key })
    const followed = flight.followed(runtime.now())
    const soft = fallback === undefined ? Infinity : call.settings.softTimeout
    const landing = await waitFor(
      flight,
      seat,
      { soft, budget: progress.budget, signal: call.settings.signal },
      this.#engine,
    )
    progress.budget -= flight.followed(runtime.now()) - followed
    const own = joined === undefined ? flight : undefined
    if (landing.kind === 'again') return undefined
    if (landing.kind === 'alone') return this.#alone(call, progress)
    return this.#arrive(landing, { call, flight, own, fallback, progress })
  }

  #arrive(landing: Exclude<Landing | GaveUp, { kind: 'again' | 'alone' }>, ride: Ride): Answer {
    const { call, flight, own, progress } = ride
    switch (landing.kind) {
      case 'loaded':
        return this.#loaded(landing.value, landing.freshFor, own, progress)
      case 'found':
        return this.#serve(call.key, landing.entry, 'follower', progress)
      case 'failed':
        if (landing.failure) return this.#fallBack(ride, landing.error)
        throw landing.error
      case 'gave-up':
        if (landing.why === 'wait-timeout') this.#gaveUp(call, progress)
        return this.#fallBack(ride, new WaitTimeoutError(call.key, call.settings.waitTimeout), flight.outcome)
    }
  }

  /** The stale value that was in hand all the time, if its window is still open; else the error. */
  #fallBack({ call, fallback, progress }: Ride, error: unknown, refresh?: Promise<Outcome>): Answer {
    if (fallback === undefined || this.#judge(fallback, call) === 'gone') throw error
    return this.#serve(call.key, fallback, 'none', progress, refresh)
  }

  /** The key is not cacheable, and this caller's result would be nobody else's. */
  async #alone(call: Call, progress: Progress): Promise<Answer> {
    const flight = new Flight(call.key, false)
    flight.detach()
    const seat = flight.board('owner')
    this.#launch(flight, loadUnleased(flight, call, 'unleased', undefined, this.#engine))
    const landing = await waitFor(
      flight,
      seat,
      { soft: Infinity, budget: Infinity, signal: call.settings.signal },
      this.#engine,
    )
    if (landing.kind === 'loaded') return this.#loaded(landing.value, 0, flight, progress)
    throw landing.kind === 'failed' ? landing.error : new WaitTimeoutError(call.key, call.settings.waitTimeout)
  }

  /** Starts a refresh that nobody waits for, unless one runs, here or, as far as we know, elsewhere. */
  #behind(call: Call, entry: Entry): Promise<Outcome> | undefined {
    const { runtime } = this.#engine
    const running = this.#flights.joinable(call.key)
    if (running !== undefined) return running.outcome
    if (this.#deck.suppression.holds(call.key, entry.version, runtime.now())) return undefined
    const flight = new Flight(call.key, true)
    this.#launch(flight, fly(flight, call, { kind: 'found', entry }, this.#deck))
    void flight.outcome.then((outcome) => {
      // An error that is no failure cools nothing down: without a pause of our own, every stale hit would try again.
      if (outcome.kind !== 'failed' || outcome.cooldown > 0) return
      this.#deck.suppression.add(call.key, entry.version, runtime.now() + call.settings.cooldown.max)
    })
    return flight.outcome
  }

  #launch(flight: Flight, road: Promise<void>): void {
    this.#flights.add(flight)
    void road.then(() => this.#flights.remove(flight))
  }

  #found(key: string, read: Read): Entry | undefined {
    if (read.kind === 'found') return read.entry
    const { events } = this.#engine
    const because = read.kind === 'missing' ? read.because : undefined
    if (because !== undefined && events.heard('unreadable'))
      events.emit('unreadable', { key, why: because.why, error: because.cause })
    return undefined
  }

  #judge(entry: Entry, call: Call): Verdict {
    return this.#engine.freshness.judge(entry, this.#engine.runtime.now(), call.settings)
  }

  #serve(key: string, entry: Entry, role: 'none' | 'follower', progress: Progress, refresh?: Promise<Outcome>): Answer {
    const { runtime, events } = this.#engine
    const now = runtime.now()
    const age = Math.max(0, now - entry.bornAt)
    const freshFor = entry.freshUntil - now
    const status = freshFor > 0 ? 'fresh' : 'stale'
    const { value } = entry
    if (events.heard('hit')) events.emit('hit', { key, status, age, freshFor })
    const waited = progress.waits ? now - progress.began : 0
    return {
      lookup: { value, status, from: 'store', role, age, freshFor, waited, outcome: undefined, refresh },
      own: undefined,
    }
  }

  #loaded(value: unknown, freshFor: number, own: Flight | undefined, { began }: Progress): Answer {
    const waited = this.#engine.runtime.now() - began
    const role = own === undefined ? 'follower' : 'leader'
    return {
      lookup: {
        value,
        status: 'loaded',
        from: 'load',
        role,
        age: 0,
        freshFor,
        waited,
        outcome: undefined,
        refresh: undefined,
      },
      own,
    }
  }

  #gaveUp({ key }: Call, { began }: Progress): void {
    const { events, runtime } = this.#engine
    if (events.heard('wait-timeout')) events.emit('wait-timeout', { key, waited: runtime.now() - began })
  }

  #wake(key: string): void {
    this.#deck.suppression.clear(key)
    this.#deck.waiters.wake(key)
  }

  #wakeAll(): void {
    this.#deck.suppression.clearAll()
    this.#deck.waiters.wakeAll()
  }
}
