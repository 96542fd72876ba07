import { runRefresh, runUnleased } from '../refresh/refresh-run.ts'
import type { ReleasePermit } from '../flight/admission-control.ts'
import { type LookupResult, loaded, type CallState, serveFallback, serveFound, waitedBy } from './lookup-result.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { Engine } from '../flight/engine.ts'
import type { Call, StoreRead } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError, TooManyWaitersError, WaitTimeoutError } from '../errors.ts'
import { Flight, type FlightResult } from '../flight/flight.ts'
import type { Outcome } from '../load.ts'
import { type GaveUp, waitFor } from './caller-wait.ts'

/** What is made of a ride's end: an answer, or nothing, when the call is to look again. */
type OnContinue<T> = (answer: LookupResult | undefined) => T | Promise<T>

/** One call's part in a flight, and what it may fall back on. */
interface Participation {
  readonly call: Call
  readonly flight: Flight
  readonly own: Flight | undefined
  readonly fallback: Entry | undefined
  readonly progress: CallState
  /** How long the flight had followed when the call boarded, ms. */
  readonly followed: number
}

/** What calls do for which nothing in hand will do: start or join the refresh of their key, wait for it, and make the best of its end. */
export class FlightJoiner {
  readonly #engine: Engine
  readonly #coordinator: LoadCoordinator

  constructor(coordinator: LoadCoordinator) {
    this.#engine = coordinator.engine
    this.#coordinator = coordinator
  }

  /** Takes part in the key's refresh. A herd goes this way: no async function. */
  joinOrStart<T>(
    call: Call,
    look: StoreRead,
    fallback: Entry | undefined,
    progress: CallState,
    go: OnContinue<T>,
  ): T | Promise<T> {
    const { runtime, events, admission } = this.#engine
    const { key, settings } = call
    const joined = this.#coordinator.flights.joinable(key)
    const flight = joined ?? new Flight(key, false)
    const own = joined === undefined ? flight : undefined
    const ride: Participation = { call, flight, own, fallback, progress, followed: flight.followed(look.at) }
    const stopWaiting = admission.startWaiting(key, flight.callers, call.sharedWaiter)
    if (stopWaiting === undefined) return go(this.#fallBack(ride, new TooManyWaitersError(key), look.at))
    const soft = fallback === undefined ? Infinity : settings.softTimeout
    const patience = { soft, budget: progress.budget, followed: ride.followed, signal: settings.signal }
    const end = waitFor(flight, own === undefined ? 'joiner' : 'owner', patience, runtime, stopWaiting)
    if (own !== undefined) this.#coordinator.flights.launch(own, runRefresh(own, call, look, this.#coordinator))
    else {
      call.onWait?.()
      if (events.hasListeners('join')) events.emit('join', { key })
    }
    return end.then((result) => this.#resultFor(result, ride, go))
  }

  /** A load for this caller alone, stored nowhere and joined by nobody. `turn`: one that it has already. */
  async loadAlone(call: Call, progress: CallState, turn?: ReleasePermit): Promise<LookupResult> {
    const { key, settings } = call
    const { runtime } = this.#engine
    const stopWaiting = this.#countAlone(call, turn)
    const flight = new Flight(key, false)
    flight.detach()
    // With a turn in hand nothing is waited for but the load.
    const budget = turn === undefined ? Math.max(0, progress.budget) : Infinity
    const patience = { soft: Infinity, budget, followed: 0, signal: settings.signal }
    const end = waitFor(flight, 'owner', patience, runtime, stopWaiting)
    this.#coordinator.flights.launch(flight, runUnleased(flight, call, this.#coordinator, turn))
    const result = await end
    if (result.kind === 'loaded') return loaded(result.value, 0, waitedBy(progress, runtime.now()), flight)
    throw result.kind === 'failed' ? result.error : new WaitTimeoutError(key, settings.waitTimeout)
  }

  /** @throws what keeps the call from loading, after it has given its turn back. */
  #countAlone({ key, settings, sharedWaiter }: Call, turn: ReleasePermit | undefined): () => void {
    try {
      if (this.#coordinator.closed) throw new ClosedError()
      settings.signal?.throwIfAborted()
      const stopWaiting = this.#engine.admission.startWaiting(key, 0, sharedWaiter)
      if (stopWaiting === undefined) throw new TooManyWaitersError(key)
      return stopWaiting
    } catch (error) {
      turn?.()
      throw error
    }
  }

  #resultFor<T>(result: FlightResult | GaveUp, ride: Participation, go: OnContinue<T>): T | Promise<T> {
    const { call, flight, own, progress } = ride
    const now = this.#engine.runtime.now()
    progress.budget -= flight.followed(now) - ride.followed
    switch (result.kind) {
      case 'again':
        return go(undefined)
      case 'alone':
        return this.loadAlone(call, progress).then(go)
      case 'loaded':
        return go(loaded(result.value, result.freshFor, waitedBy(progress, now), own))
      case 'found':
        // Found by the flight's owner, who may have been easier to please.
        return go(serveFound(this.#engine, call, result.entry, now, progress))
      case 'failed':
        if (result.failure) return go(this.#fallBack(ride, result.error, now))
        throw result.error
      case 'gave-up':
        if (result.why === 'wait-timeout') return this.#waitTimedOut(ride, now, go)
        // The stale value that the load took too long to replace; where its window closed meanwhile, the call looks again.
        return go(this.#serveFallback(ride, now, flight.outcome))
    }
  }

  /** A stale value first; then an error, or, where the call asked for it and there is room, a load of its own. */
  #waitTimedOut<T>(ride: Participation, now: number, go: OnContinue<T>): T | Promise<T> {
    const { call, flight, progress, fallback } = ride
    const { events, admission } = this.#engine
    const { key, settings } = call
    if (events.hasListeners('wait-timeout')) events.emit('wait-timeout', { key, waited: waitedBy(progress, now) })
    const turn = fallback === undefined && settings.onWaitTimeout === 'load' ? admission.turn() : undefined
    if (turn !== undefined) return this.loadAlone(call, progress, turn).then(go)
    return go(this.#fallBack(ride, new WaitTimeoutError(key, settings.waitTimeout), now, flight.outcome))
  }

  /** The stale value that was in hand all the time, if its window is still open; else the error. */
  #fallBack(ride: Participation, error: unknown, now: number, refresh?: Promise<Outcome>): LookupResult {
    const answer = this.#serveFallback(ride, now, refresh)
    if (answer === undefined) throw error
    return answer
  }

  #serveFallback(
    { call, fallback, progress }: Participation,
    now: number,
    refresh?: Promise<Outcome>,
  ): LookupResult | undefined {
    if (fallback === undefined) return undefined
    return serveFallback(this.#engine, call, fallback, { now, role: 'none', progress, refresh })
  }
}
