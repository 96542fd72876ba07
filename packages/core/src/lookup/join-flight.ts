import { type AloneWhy, loadAlone } from '../claim/alone.ts'
import { claim } from '../claim/claim.ts'
import { LoadPermit } from '../claim/load-permit.ts'
import { isSameCodec } from '../codec/codec.ts'
import type { Entry } from '../entry.ts'
import { ClosedError, TooManyWaitersError, WaitTimeoutError } from '../errors.ts'
import { type Call, judge, type TimedRead } from '../flight/call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import { Flight, type WaiterRole } from '../flight/flight.ts'
import type { Settled } from '../flight/flight-waiters.ts'
import { ABSENT } from '../load.ts'
import type { Read } from '../store/answers.ts'
import { type CallState, type Served, serveEntry, serveLoaded } from './served.ts'
import { waitFor } from './wait.ts'

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

/**
 * Serves calls that no stored entry satisfies: each starts or joins the flight of its key, waits, and is
 * served what the flight brings. Undefined: the flight brought nothing for this call, which reads the
 * store again.
 */
export class FlightJoiner {
  readonly #services: EngineServices
  readonly #coordinator: LoadCoordinator

  constructor(coordinator: LoadCoordinator) {
    this.#services = coordinator.services
    this.#coordinator = coordinator
  }

  async joinOrStart(
    call: Call,
    storeRead: TimedRead,
    fallback: Entry | undefined,
    state: CallState,
  ): Promise<Served | undefined> {
    const { events, admission, runtime } = this.#services
    const { storedKey: key } = call
    const joined = this.#coordinator.flights.joinable(key)
    const flight = joined ?? new Flight(key, state.id, false)
    const ownFlight = joined === undefined ? flight : undefined
    const joinedAt = runtime.elapsed()
    // The time that the store took for the answer counts, too.
    state.waitBudget -= joinedAt - state.readAt
    const part: Participation = { call, flight, ownFlight, fallback, state, joinedAt }
    // Only a joiner: an owner may lead at once, and its wait ends itself.
    if (ownFlight === undefined && state.reElected && state.waitBudget <= 0)
      return this.#endWaitTimeout(part, storeRead.judgedAt)
    const removeWaiter = admission.admitWaiter(flight, state.awaiters, call.batch?.sharedWaiter)
    if (removeWaiter === undefined) return this.#refuse(part)
    const role = ownFlight === undefined ? joinerRole(storeRead.read) : 'owner'
    const waiting = this.#wait(part, role, state.waitBudget, removeWaiter)
    if (ownFlight !== undefined)
      this.#coordinator.flights.register(ownFlight, claim(ownFlight, call, storeRead, this.#coordinator))
    else if (events.hasListeners('join')) events.emit('join', { key, call: state.id, flight: flight.id })
    // Only now has the flight asked for its share of the batch's permit, for which the loader call waits.
    call.batch?.onRead(call.requestedKey)
    return this.#serve(await waiting, part)
  }

  /**
   * Loads for this caller alone: the result is not stored, and no call joins. `permit`: one that the call
   * holds already; it is released in any case.
   */
  async loadAlone(
    call: Call,
    fallback: Entry | undefined,
    state: CallState,
    why: AloneWhy,
    permit?: LoadPermit,
  ): Promise<Served | undefined> {
    const flight = new Flight(call.storedKey, state.id, false)
    flight.detach()
    const joinedAt = this.#services.runtime.elapsed()
    const part: Participation = { call, flight, ownFlight: flight, fallback, state, joinedAt }
    const removeWaiter = this.#admitAlone(part, permit)
    if (removeWaiter === undefined) return this.#refuse(part)
    // With a permit there is nothing to wait for but the load, which `waitTimeout` does not limit.
    const waiting = this.#wait(part, 'owner', permit === undefined ? state.waitBudget : Infinity, removeWaiter)
    this.#coordinator.flights.register(flight, loadAlone(flight, call, why, this.#services, permit))
    return this.#serve(await waiting, part)
  }

  /**
   * Undefined when too many calls wait.
   *
   * @throws ClosedError; ReentrantLoadError; the reason of the signal. If the call is not admitted, its
   * permit is released.
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

  #wait(part: Participation, role: WaiterRole, budget: number, onOver: () => void): Promise<Settled> {
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
  #refuse(part: Participation): Served {
    return this.#fallbackOrThrow(part, new TooManyWaitersError(part.call.storedKey), this.#services.runtime.now())
  }

  #serve(result: Settled, part: Participation): Served | undefined | Promise<Served | undefined> {
    const { call, flight, ownFlight, state } = part
    if (result.kind === 'loaded') return serveLoaded(result.value, result.freshFor, state, ownFlight)
    this.#spendBudget(result, part)
    const now = this.#services.runtime.now()
    switch (result.kind) {
      case 'retry':
        state.reElected = true
        return undefined
      case 'load-alone':
        return this.loadAlone(call, part.fallback, state, 'uncacheable')
      case 'absent':
        return call.batch && serveLoaded(ABSENT, 0, state, ownFlight)
      case 'found':
        // The flight read and judged the entry for its owner; this call may have another codec, or
        // stricter options.
        if (!isSameCodec(result.codec, call.settings.codec) || this.#coordinator.paused) return undefined
        return this.#serveFound(part, result.entry, now)
      case 'failed':
        if (result.mayServeStale) return this.#fallbackOrThrow(part, result.error, now)
        throw result.error
      case 'gave-up':
        if (result.why === 'wait-timeout') return this.#endWaitTimeout(part, now)
        // The load exceeded `softTimeout`. If the stale window has closed meanwhile, the call reads again.
        return this.#fallback(part, now, flight)
    }
  }

  /**
   * A load of another call that brought nothing counts, too: a call must not go from one to the next
   * for ever.
   */
  #spendBudget(result: Settled, { flight, ownFlight, state, joinedAt }: Participation): void {
    const inVain = result.kind === 'retry' && ownFlight === undefined
    const elapsed = this.#services.runtime.elapsed()
    state.waitBudget -= elapsed - joinedAt - (inVain ? 0 : flight.loadTimeSince(joinedAt, elapsed))
  }

  /**
   * Serves a stale value; else loads alone, where the call asks for that and a permit is free; else throws.
   */
  #endWaitTimeout(part: Participation, now: number): Served | Promise<Served | undefined> {
    const { call, flight, state } = part
    const { admission, events } = this.#services
    const { storedKey: key, settings } = call
    if (events.hasListeners('wait-timeout')) events.emit('wait-timeout', { key, waited: state.waited })
    const stale = this.#fallback(part, now, flight)
    if (stale !== undefined) return stale
    // A claim gets `alone`: it loads nothing, so it needs no permit.
    if (call.handOut !== undefined) return this.loadAlone(call, part.fallback, state, 'wait-timeout')
    if (settings.onWaitTimeout === 'load') {
      const permit = new LoadPermit(call.permits, settings.waitTimeout)
      if (permit.tryAcquire(admission.isInsideLoad()))
        return this.loadAlone(call, part.fallback, state, 'wait-timeout', permit)
    }
    throw new WaitTimeoutError(key, settings.waitTimeout)
  }

  /** Serves an entry that the flight found. Undefined if this call may not have it. */
  #serveFound({ call, state }: Participation, entry: Entry, now: number): Served | undefined {
    const verdict = judge(this.#services, call, entry, now)
    if (verdict !== 'fresh' && verdict !== 'stale') return undefined
    return serveEntry(call.settings, entry, verdict, { now, role: 'follower', state, refresh: undefined })
  }

  /** @throws `error` when no stale window allows the fallback any more. */
  #fallbackOrThrow(part: Participation, error: unknown, now: number): Served {
    const served = this.#fallback(part, now)
    if (served === undefined) throw error
    // The load of this call has failed: it has an outcome, although the value is another.
    return part.ownFlight?.loadBegan === true ? { ...served, ownFlight: part.ownFlight } : served
  }

  /**
   * Serves the stale entry that the call had before it waited. Undefined when it had none, or its windows
   * have closed.
   */
  #fallback({ call, fallback, state }: Participation, now: number, refresh?: Flight): Served | undefined {
    if (fallback === undefined || this.#coordinator.paused) return undefined
    const verdict = judge(this.#services, call, fallback, now)
    if (verdict === 'gone') return undefined
    const status = verdict === 'fresh' ? 'fresh' : 'stale'
    return serveEntry(call.settings, fallback, status, { now, role: 'none', state, refresh })
  }
}

/**
 * A call whose read was not answered, or not sent, in time has waited long enough for the store: it must not
 * wait for a commit, too.
 */
function joinerRole(read: Read): 'joiner' | 'early joiner' {
  const away = read.kind === 'away' ? read : read.away
  return away?.why === 'deadline' || away?.why === 'busy' ? 'early joiner' : 'joiner'
}
