import type { Call, TimedRead } from '../flight/call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { Flight } from '../flight/flight.ts'
import type { Entry } from '../entry.ts'
import type { Outcome } from '../load.ts'
import { runRefresh } from './refresh-run.ts'

/** Returns the key's running refresh, else starts one that no caller waits for. Undefined if the cache is closed, the refresh suppressed, or `refreshBudget` used up. */
export function refreshInBackground(
  call: Call,
  entry: Entry,
  storeRead: TimedRead,
  coordinator: LoadCoordinator,
  callId: number,
): Flight | undefined {
  const { services, flights, suppression } = coordinator
  const { refreshBudget } = services
  const running = flights.joinable(call.storedKey)
  if (running !== undefined) return running
  if (coordinator.closed) return undefined
  const now = services.runtime.elapsed()
  if (suppression.holds(call.storedKey, entry.version, now)) return undefined
  if (refreshBudget !== undefined && !refreshBudget.mayAsk(now)) return undefined
  const flight = new Flight(call.storedKey, callId, true)
  flights.register(flight, runRefresh(flight, call, storeRead, coordinator))
  void flight.outcome.then((outcome) => {
    if (!leavesNoPause(outcome)) return
    suppression.add(call.storedKey, entry, services.runtime.elapsed() + call.settings.cooldown.max)
  })
  return flight
}

/**
 * True when nothing in the store stops the next load: the error was no failure, or the store itself threw; or the batch had no value for the key.
 * Without a pause every stale hit would load again.
 */
function leavesNoPause(outcome: Outcome): boolean {
  if (outcome.kind === 'failed') return outcome.cooldown === 0
  return outcome.kind === 'abandoned' && outcome.why === 'absent'
}
