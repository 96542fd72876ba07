import type { Entry } from '../entry.ts'
import type { Call, TimedRead } from '../flight/call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { Flight } from '../flight/flight.ts'
import type { PermitSource } from '../flight/permits.ts'
import type { Outcome } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import { claim } from './claim.ts'

/**
 * Refreshes entries behind the calls that were served them. `permits`: those of the cache, or of a view
 * of it.
 */
export class Background {
  readonly #coordinator: LoadCoordinator
  readonly #permits: PermitSource

  constructor(coordinator: LoadCoordinator, permits: PermitSource) {
    this.#coordinator = coordinator
    this.#permits = permits
  }

  isDue({ storedKey, settings }: Call, entry: Entry, verdict: 'fresh' | 'stale', now: number): boolean {
    return verdict === 'stale' || this.isEarlyDue(storedKey, entry, now, settings)
  }

  /** False also while an early refresh could not begin: the call is a hit like any other. */
  isEarlyDue(key: string, entry: Entry, now: number, { earlyRefresh: early }: Settings): boolean {
    const { earlyRefresh } = this.#coordinator.services
    return early !== undefined && earlyRefresh.due(key, entry, now, early) && this.#mayRefresh()
  }

  #mayRefresh(): boolean {
    const { refreshBudget, runtime } = this.#coordinator.services
    return this.#permits.permitAvailable && refreshBudget?.mayAsk(runtime.elapsed()) !== false
  }

  /** Joins or starts the flight that refreshes an entry for which that is due. */
  refresh(
    call: Call,
    entry: Entry,
    verdict: 'fresh' | 'stale',
    storeRead: TimedRead,
    callId: number,
  ): Flight | undefined {
    const flight = this.#joinOrStart(call, entry, storeRead, callId)
    if (verdict === 'fresh') this.#noteAttempt(call.storedKey, entry, flight)
    return flight
  }

  /**
   * An entry gets one attempt that begins; one refused by a limit does not count. Until the entry is stale,
   * later calls are hits again, also from the near cache.
   */
  #noteAttempt(key: string, entry: Entry, refresh: Flight | undefined): void {
    const { earlyRefresh } = this.#coordinator.services
    earlyRefresh.noteAttempt(key, entry)
    void refresh?.outcome.then((outcome) => {
      if (outcome.kind === 'abandoned' && (outcome.why === 'over-budget' || outcome.why === 'busy'))
        earlyRefresh.withdrawAttempt(key, entry)
    })
  }

  /**
   * Returns the key's running flight, else starts one that no caller waits for. Undefined if the cache is
   * closed, the refresh suppressed, or `refreshBudget` used up: its call is served the entry, and nothing
   * refreshes it.
   */
  #joinOrStart(call: Call, entry: Entry, storeRead: TimedRead, callId: number): Flight | undefined {
    const { services, flights, known } = this.#coordinator
    const { refreshBudget } = services
    const running = flights.joinable(call.storedKey)
    if (running !== undefined) return running
    if (this.#coordinator.closed) return undefined
    const now = services.runtime.elapsed()
    if (known.isSuppressed(call.storedKey, entry.version, now)) return undefined
    if (refreshBudget !== undefined && !refreshBudget.mayAsk(now)) return undefined
    const flight = new Flight(call.storedKey, callId, true)
    flights.register(flight, claim(flight, call, storeRead, this.#coordinator))
    void flight.outcome.then((outcome) => {
      if (!needsPauseHere(outcome)) return
      known.suppress(call.storedKey, entry, services.runtime.elapsed() + call.settings.cooldown.max)
    })
    return flight
  }
}

/**
 * True when nothing in the store stops the next load: the error was no failure, or the store itself threw; or
 * the batch had no value for the key. Without a pause every stale hit would load again.
 */
function needsPauseHere(outcome: Outcome): boolean {
  if (outcome.kind === 'failed') return outcome.cooldown === 0
  return outcome.kind === 'abandoned' && outcome.why === 'absent'
}
