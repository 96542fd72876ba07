import { fly, flyAlone } from '../refresh/refresh-run.ts'
import type { EndTurn } from '../flight/admission-control.ts'
import { type Answer, loaded, type Progress, serveFallback, serveFound, waitedBy } from './lookup-result.ts'
import type { Deck } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import type { Call, Look } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError, TooManyWaitersError, WaitTimeoutError } from '../errors.ts'
import { Flight, type Landing } from '../flight/flight.ts'
import type { Outcome } from '../load.ts'
import { type GaveUp, waitFor } from './caller-wait.ts'

/** What is made of a ride's end: an answer, or nothing, when the call is to look again. */
type Go<T> = (answer: Answer | undefined) => T | Promise<T>

/** One call's part in a flight, and what it may fall back on. */
interface Ride {
  readonly call: Call
  readonly flight: Flight
  readonly own: Flight | undefined
  readonly fallback: Entry | undefined
  readonly progress: Progress
  /** How long the flight had followed when the call boarded, ms. */
  readonly followed: number
}

/** What calls do for which nothing in hand will do: start or join the refresh of their key, wait for it, and make the best of its end. */
export class Rides {
  readonly #engine: Engine
  readonly #deck: Deck

  constructor(deck: Deck) {
    this.#engine = deck.engine
    this.#deck = deck
  }

  /** Takes part in the key's refresh. A herd goes this way: no async function. */
  take<T>(call: Call, look: Look, fallback: Entry | undefined, progress: Progress, go: Go<T>): T | Promise<T> {
    const { runtime, events, admission } = this.#engine
    const { key, settings } = call
    const joined = this.#deck.flights.joinable(key)
    const flight = joined ?? new Flight(key, false)
    const own = joined === undefined ? flight : undefined
    const ride: Ride = { call, flight, own, fallback, progress, followed: flight.followed(look.at) }
    const stopWaiting = admission.startWaiting(key, flight.callers, call.party)
    if (stopWaiting === undefined) return go(this.#fallBack(ride, new TooManyWaitersError(key), look.at))
    const soft = fallback === undefined ? Infinity : settings.softTimeout
    const patience = { soft, budget: progress.budget, followed: ride.followed, signal: settings.signal }
    const end = waitFor(flight, own === undefined ? 'joiner' : 'owner', patience, runtime, stopWaiting)
    if (own !== undefined) this.#deck.flights.launch(own, fly(own, call, look, this.#deck))
    else {
      call.onWait?.()
      if (events.heard('join')) events.emit('join', { key })
    }
    return end.then((landing) => this.#arrive(landing, ride, go))
  }

  /** A load for this caller alone, stored nowhere and joined by nobody. `turn`: one that it has already. */
  async alone(call: Call, progress: Progress, turn?: EndTurn): Promise<Answer> {
    const { key, settings } = call
    const { runtime } = this.#engine
    const stopWaiting = this.#startAlone(call, turn)
    const flight = new Flight(key, false)
    flight.detach()
    // With a turn in hand nothing is waited for but the load.
    const budget = turn === undefined ? Math.max(0, progress.budget) : Infinity
    const patience = { soft: Infinity, budget, followed: 0, signal: settings.signal }
    const end = waitFor(flight, 'owner', patience, runtime, stopWaiting)
    this.#deck.flights.launch(flight, flyAlone(flight, call, this.#deck, turn))
    const landing = await end
    if (landing.kind === 'loaded') return loaded(landing.value, 0, waitedBy(progress, runtime.now()), flight)
    throw landing.kind === 'failed' ? landing.error : new WaitTimeoutError(key, settings.waitTimeout)
  }

  /** @throws what keeps the call from loading, after it has given its turn back. */
  #startAlone({ key, settings, party }: Call, turn: EndTurn | undefined): () => void {
    try {
      if (this.#deck.closed) throw new ClosedError()
      settings.signal?.throwIfAborted()
      const stopWaiting = this.#engine.admission.startWaiting(key, 0, party)
      if (stopWaiting === undefined) throw new TooManyWaitersError(key)
      return stopWaiting
    } catch (error) {
      turn?.()
      throw error
    }
  }

  #arrive<T>(landing: Landing | GaveUp, ride: Ride, go: Go<T>): T | Promise<T> {
    const { call, flight, own, progress } = ride
    const now = this.#engine.runtime.now()
    progress.budget -= flight.followed(now) - ride.followed
    switch (landing.kind) {
      case 'again':
        return go(undefined)
      case 'alone':
        return this.alone(call, progress).then(go)
      case 'loaded':
        return go(loaded(landing.value, landing.freshFor, waitedBy(progress, now), own))
      case 'found':
        // Found by the flight's owner, who may have been easier to please.
        return go(serveFound(this.#engine, call, landing.entry, now, progress))
      case 'failed':
        if (landing.failure) return go(this.#fallBack(ride, landing.error, now))
        throw landing.error
      case 'gave-up':
        if (landing.why === 'wait-timeout') return this.#waitTimedOut(ride, now, go)
        // The stale value that the load took too long to replace; where its window closed meanwhile, the call looks again.
        return go(this.#serveFallback(ride, now, flight.outcome))
    }
  }

  /** A stale value first; then an error, or, where the call asked for it and there is room, a load of its own. */
  #waitTimedOut<T>(ride: Ride, now: number, go: Go<T>): T | Promise<T> {
    const { call, flight, progress, fallback } = ride
    const { events, admission } = this.#engine
    const { key, settings } = call
    if (events.heard('wait-timeout')) events.emit('wait-timeout', { key, waited: waitedBy(progress, now) })
    const turn = fallback === undefined && settings.onWaitTimeout === 'load' ? admission.turn() : undefined
    if (turn !== undefined) return this.alone(call, progress, turn).then(go)
    return go(this.#fallBack(ride, new WaitTimeoutError(key, settings.waitTimeout), now, flight.outcome))
  }

  /** The stale value that was in hand all the time, if its window is still open; else the error. */
  #fallBack(ride: Ride, error: unknown, now: number, refresh?: Promise<Outcome>): Answer {
    const answer = this.#serveFallback(ride, now, refresh)
    if (answer === undefined) throw error
    return answer
  }

  #serveFallback({ call, fallback, progress }: Ride, now: number, refresh?: Promise<Outcome>): Answer | undefined {
    if (fallback === undefined) return undefined
    return serveFallback(this.#engine, call, fallback, { now, role: 'none', progress, refresh })
  }
}
