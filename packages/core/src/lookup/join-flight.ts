import { runRefresh } from '../refresh/refresh-run.ts'
import { LoadPermit } from '../refresh/load-permit.ts'
import { runUnleased } from '../refresh/unleased-load.ts'
import {
  type LookupResult,
  loadedResult,
  type CallState,
  serveFallback,
  serveFound,
  waitTime,
} from './lookup-result.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Call, TimedRead } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ClosedError, TooManyWaitersError, WaitTimeoutError } from '../errors.ts'
import { Flight } from '../flight/flight.ts'
import type { FlightResult } from '../flight/flight-waiters.ts'
import type { Read } from '../store/store.ts'
import { type GaveUp, waitFor } from './caller-wait.ts'

/** Continues a call after its wait: with its result, or with undefined when it must read the store again. */
type OnContinue<T> = (result: LookupResult | undefined) => T | Promise<T>

/** One call's part in a flight. */
interface Participation {
  readonly call: Call
  readonly flight: Flight
  /** `flight`, if this call started it; undefined if it joined. */
  readonly ownFlight: Flight | undefined
  /** The stale entry that the call may be served if the load fails or is slow. */
  readonly fallback: Entry | undefined
  readonly state: CallState
  /** The time that the flight had waited when the call joined, ms. */
  readonly waitedBefore: number
}

/** Serves calls that no stored entry satisfies: each starts or joins the refresh of its key, waits, and makes its result of the flight's. */
export class FlightJoiner {
  readonly #services: EngineServices
  readonly #coordinator: LoadCoordinator

  constructor(coordinator: LoadCoordinator) {
    this.#services = coordinator.services
    this.#coordinator = coordinator
  }

  /** Joins the key's refresh, or starts it. Every caller of a herd takes this path: no async function. */
  joinOrStart<T>(
    call: Call,
    storeRead: TimedRead,
    fallback: Entry | undefined,
    state: CallState,
    onContinue: OnContinue<T>,
  ): T | Promise<T> {
    const { runtime, events, admission } = this.#services
    const { storedKey: key, settings } = call
    const joined = this.#coordinator.flights.joinable(key)
    const flight = joined ?? new Flight(key, false)
    const ownFlight = joined === undefined ? flight : undefined
    const waitedBefore = flight.waitedFor(storeRead.judgedAt)
    const part: Participation = { call, flight, ownFlight, fallback, state, waitedBefore }
    const removeWaiter = admission.admitWaiter(flight, call.batch?.sharedWaiter)
    if (removeWaiter === undefined)
      return onContinue(this.#fallbackOrThrow(part, new TooManyWaitersError(key), storeRead.judgedAt))
    const softTimeout = fallback === undefined ? Infinity : settings.softTimeout
    const limits = { softTimeout, budget: state.waitBudget, waitedBefore, signal: settings.signal }
    const role = ownFlight === undefined ? joinerRole(storeRead.read) : 'owner'
    const waiting = waitFor(flight, role, limits, runtime, removeWaiter)
    if (ownFlight !== undefined)
      this.#coordinator.flights.launch(ownFlight, runRefresh(ownFlight, call, storeRead, this.#coordinator))
    else if (events.hasListeners('join')) events.emit('join', { key })
    call.batch?.onRead(call.requestedKey)
    return waiting.then((result) => this.#resultFor(result, part, onContinue))
  }

  /** Loads for this caller alone: the result is not stored, and no call joins. `permit`: one that the call holds already; it is released in any case. */
  async loadAlone(call: Call, state: CallState, permit?: LoadPermit): Promise<LookupResult> {
    const { storedKey: key, settings } = call
    const { runtime } = this.#services
    const flight = new Flight(key, false)
    flight.detach()
    const removeWaiter = this.#admitAlone(flight, call, permit)
    // With a permit there is nothing to wait for but the load, which `waitTimeout` does not limit.
    const budget = permit === undefined ? Math.max(0, state.waitBudget) : Infinity
    const limits = { softTimeout: Infinity, budget, waitedBefore: 0, signal: settings.signal }
    const waiting = waitFor(flight, 'owner', limits, runtime, removeWaiter)
    this.#coordinator.flights.launch(flight, runUnleased(flight, call, this.#services, permit))
    const result = await waiting
    if (result.kind === 'loaded') return loadedResult(result.value, 0, state, runtime.now(), flight)
    if (result.kind === 'failed') throw result.error
    this.#emitWaitTimeout(key, state, runtime.now())
    throw new WaitTimeoutError(key, settings.waitTimeout)
  }

  /** @throws the reason why the call may not load, after it has released the permit. */
  #admitAlone(flight: Flight, { settings, batch }: Call, permit: LoadPermit | undefined): () => void {
    try {
      if (this.#coordinator.closed) throw new ClosedError()
      settings.signal?.throwIfAborted()
      const removeWaiter = this.#services.admission.admitWaiter(flight, batch?.sharedWaiter)
      if (removeWaiter === undefined) throw new TooManyWaitersError(flight.key)
      return removeWaiter
    } catch (error) {
      permit?.release()
      throw error
    }
  }

  #resultFor<T>(result: FlightResult | GaveUp, part: Participation, onContinue: OnContinue<T>): T | Promise<T> {
    const { call, flight, ownFlight, state } = part
    const now = this.#services.runtime.now()
    state.waitBudget -= flight.waitedFor(now) - part.waitedBefore
    switch (result.kind) {
      case 'retry':
        return onContinue(undefined)
      case 'load-alone':
        return this.loadAlone(call, state).then(onContinue)
      case 'loaded':
        return onContinue(loadedResult(result.value, result.freshFor, state, now, ownFlight))
      case 'found':
        // The flight judged the entry for its owner; this call may have stricter options.
        return onContinue(serveFound(this.#services, call, result.entry, now, state))
      case 'failed':
        if (result.mayServeStale) return onContinue(this.#fallbackOrThrow(part, result.error, now))
        throw result.error
      case 'gave-up':
        if (result.why === 'wait-timeout') return this.#endWaitTimeout(part, now, onContinue)
        // The load exceeded `softTimeout`. If the stale window has closed meanwhile, the call reads again.
        return onContinue(this.#fallbackResult(part, now, flight))
    }
  }

  /** Serves a stale value; else loads alone, where the call asks for that and a permit is free; else throws. */
  #endWaitTimeout<T>(part: Participation, now: number, onContinue: OnContinue<T>): T | Promise<T> {
    const { call, flight, state } = part
    const { admission } = this.#services
    const { storedKey: key, settings } = call
    this.#emitWaitTimeout(key, state, now)
    const stale = this.#fallbackResult(part, now, flight)
    if (stale !== undefined) return onContinue(stale)
    if (settings.onWaitTimeout === 'load') {
      const permit = new LoadPermit(call.permits)
      if (permit.tryAcquire(admission.isInsideLoad())) return this.loadAlone(call, state, permit).then(onContinue)
    }
    throw new WaitTimeoutError(key, settings.waitTimeout)
  }

  #emitWaitTimeout(key: string, state: CallState, now: number): void {
    const { events } = this.#services
    if (events.hasListeners('wait-timeout')) events.emit('wait-timeout', { key, waited: waitTime(state, now) })
  }

  /** @throws `error` when no stale window allows the fallback any more. */
  #fallbackOrThrow(part: Participation, error: unknown, now: number): LookupResult {
    const result = this.#fallbackResult(part, now)
    if (result === undefined) throw error
    return result
  }

  /** Undefined when the call has no stale entry, or its windows have closed. */
  #fallbackResult({ call, fallback, state }: Participation, now: number, refresh?: Flight): LookupResult | undefined {
    if (fallback === undefined) return undefined
    return serveFallback(this.#services, call, fallback, { now, role: 'none', state, refresh })
  }
}

/** A call whose read had no answer, or no turn, in time has waited for the store long enough: it must not wait for a commit, too. */
function joinerRole(read: Read): 'joiner' | 'joiner out of time' {
  const away = read.kind === 'away' ? read : read.away
  return away?.why === 'deadline' || away?.why === 'busy' ? 'joiner out of time' : 'joiner'
}
