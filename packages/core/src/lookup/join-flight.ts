import { runRefresh } from '../refresh/refresh-run.ts'
import { LoadPermit } from '../refresh/load-permit.ts'
import { runAlone } from '../refresh/unleased-load.ts'
import { type LookupResult, loadedResult, type CallState, serveFallback, serveFound } from './lookup-result.ts'
import { isSameCodec } from '../codec/codec.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Call, TimedRead } from '../flight/call.ts'
import type { Entry } from '../entry.ts'
import { ABSENT } from '../load.ts'
import { ClosedError, TooManyWaitersError, WaitTimeoutError } from '../errors.ts'
import { Flight, type WaiterRole } from '../flight/flight.ts'
import type { FlightResult } from '../flight/flight-waiters.ts'
import type { Read } from '../store/answers.ts'
import { type GaveUp, waitFor } from './caller-wait.ts'

/** Continues a call after its wait: with its result, or with undefined when it must read the store again. */
export type OnContinue<T> = (result: LookupResult | undefined) => T | Promise<T>

/** One call's part in a flight. */
interface Participation {
  readonly call: Call
  readonly flight: Flight
  /** `flight`, if this call started it; undefined if it joined. */
  readonly ownFlight: Flight | undefined
  /** The stale entry that the call may be served if the load fails or is slow. */
  readonly fallback: Entry | undefined
  readonly state: CallState
  /** The moment at which the call joined. */
  readonly joinedAt: number
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
    const { events, admission } = this.#services
    const { storedKey: key } = call
    const joined = this.#coordinator.flights.joinable(key)
    const flight = joined ?? new Flight(key, state.id, false)
    const ownFlight = joined === undefined ? flight : undefined
    const joinedAt = this.#services.runtime.elapsed()
    // The time that the store took for the answer counts, too.
    state.waitBudget -= joinedAt - state.readAt
    const part: Participation = { call, flight, ownFlight, fallback, state, joinedAt }
    if (ownFlight === undefined && state.reElected && state.waitBudget <= 0)
      return this.#endWaitTimeout(part, storeRead.judgedAt, onContinue)
    const removeWaiter = admission.admitWaiter(flight, state.awaiters, call.batch?.sharedWaiter)
    if (removeWaiter === undefined) return onContinue(this.#refuse(part))
    const role = ownFlight === undefined ? joinerRole(storeRead.read) : 'owner'
    const waiting = this.#wait(part, role, state.waitBudget, removeWaiter)
    if (ownFlight !== undefined)
      this.#coordinator.flights.register(ownFlight, runRefresh(ownFlight, call, storeRead, this.#coordinator))
    else if (events.hasListeners('join')) events.emit('join', { key, call: state.id, flight: flight.id })
    // Only now has the flight asked for its share of the batch's permit, for which the loader call waits.
    call.batch?.onRead(call.requestedKey)
    return waiting.then((result) => this.#resultFor(result, part, onContinue))
  }

  /** Loads for this caller alone: the result is not stored, and no call joins. `permit`: one that the call holds already; it is released in any case. */
  async loadAlone<T>(
    call: Call,
    fallback: Entry | undefined,
    state: CallState,
    onContinue: OnContinue<T>,
    permit?: LoadPermit,
  ): Promise<T> {
    const flight = new Flight(call.storedKey, state.id, false)
    flight.detach()
    const joinedAt = this.#services.runtime.elapsed()
    const part: Participation = { call, flight, ownFlight: flight, fallback, state, joinedAt }
    const removeWaiter = this.#admitAlone(part, permit)
    if (removeWaiter === undefined) return onContinue(this.#refuse(part))
    // With a permit there is nothing to wait for but the load, which `waitTimeout` does not limit.
    const waiting = this.#wait(part, 'owner', permit === undefined ? state.waitBudget : Infinity, removeWaiter)
    this.#coordinator.flights.register(flight, runAlone(flight, call, this.#services, permit))
    return this.#resultFor(await waiting, part, onContinue)
  }

  /**
   * Undefined when too many calls wait.
   *
   * @throws ClosedError; ReentrantLoadError; the reason of the signal. If the call is not admitted, its permit is released.
   */
  #admitAlone({ flight, call, state }: Participation, permit: LoadPermit | undefined): (() => void) | undefined {
    const { admission } = this.#services
    let removeWaiter: (() => void) | undefined
    try {
      if (this.#coordinator.closed) throw new ClosedError()
      admission.checkLoadAlone(flight.key)
      call.settings.signal?.throwIfAborted()
      removeWaiter = admission.admitWaiter(flight, state.awaiters, call.batch?.sharedWaiter)
      return removeWaiter
    } finally {
      if (removeWaiter === undefined) permit?.release()
    }
  }

  #wait(part: Participation, role: WaiterRole, budget: number, onOver: () => void): Promise<FlightResult | GaveUp> {
    const { call, flight, fallback, state, joinedAt } = part
    const { softTimeout, signal } = call.settings
    const limits = {
      call: state.id,
      softTimeout: fallback === undefined ? Infinity : softTimeout,
      budget,
      since: joinedAt,
      signal,
    }
    return waitFor(flight, role, limits, this.#services.runtime, onOver)
  }

  /** @throws TooManyWaitersError when no stale window allows the fallback. */
  #refuse(part: Participation): LookupResult {
    return this.#fallbackOrThrow(part, new TooManyWaitersError(part.call.storedKey), this.#services.runtime.now())
  }

  #resultFor<T>(result: FlightResult | GaveUp, part: Participation, onContinue: OnContinue<T>): T | Promise<T> {
    const { call, flight, ownFlight, state } = part
    const now = this.#services.runtime.now()
    // A load of another call that brought nothing counts, too: a call must not go from one to the next for ever.
    const inVain = result.kind === 'retry' && ownFlight === undefined
    const elapsed = this.#services.runtime.elapsed()
    state.waitBudget -= elapsed - part.joinedAt - (inVain ? 0 : flight.loadTimeSince(part.joinedAt, elapsed))
    switch (result.kind) {
      case 'retry':
        state.reElected = true
        return onContinue(undefined)
      case 'load-alone':
        return this.loadAlone(call, part.fallback, state, onContinue)
      case 'loaded':
        return onContinue(loadedResult(result.value, result.freshFor, state, ownFlight))
      case 'absent':
        return onContinue(call.batch && loadedResult(ABSENT, 0, state, ownFlight))
      case 'found':
        // The flight read and judged the entry for its owner; this call may have another codec, or stricter options.
        if (!isSameCodec(result.codec, call.settings.codec) || this.#coordinator.paused) return onContinue(undefined)
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
    this.#emitWaitTimeout(key, state)
    const stale = this.#fallbackResult(part, now, flight)
    if (stale !== undefined) return onContinue(stale)
    if (settings.onWaitTimeout === 'load') {
      const permit = new LoadPermit(call.permits)
      if (permit.tryAcquire(admission.isInsideLoad()))
        return this.loadAlone(call, part.fallback, state, onContinue, permit)
    }
    throw new WaitTimeoutError(key, settings.waitTimeout)
  }

  #emitWaitTimeout(key: string, state: CallState): void {
    const { events } = this.#services
    if (events.hasListeners('wait-timeout')) events.emit('wait-timeout', { key, waited: state.waited })
  }

  /** @throws `error` when no stale window allows the fallback any more. */
  #fallbackOrThrow(part: Participation, error: unknown, now: number): LookupResult {
    const result = this.#fallbackResult(part, now)
    if (result === undefined) throw error
    // The load of this call has failed: it has an outcome, although the value is another.
    return part.ownFlight?.loadBegan === true ? { ...result, ownFlight: part.ownFlight } : result
  }

  /** Undefined when the call has no stale entry, or its windows have closed. */
  #fallbackResult({ call, fallback, state }: Participation, now: number, refresh?: Flight): LookupResult | undefined {
    if (fallback === undefined || this.#coordinator.paused) return undefined
    return serveFallback(this.#services, call, fallback, { now, role: 'none', state, refresh })
  }
}

/** A call whose read was not answered, or not sent, in time has waited long enough for the store: it must not wait for a commit, too. */
function joinerRole(read: Read): 'joiner' | 'early joiner' {
  const away = read.kind === 'away' ? read : read.away
  return away?.why === 'deadline' || away?.why === 'busy' ? 'early joiner' : 'joiner'
}
