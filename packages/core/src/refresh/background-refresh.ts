import type { Call, TimedRead } from '../flight/call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { Flight } from '../flight/flight.ts'
import type { Entry } from '../entry.ts'
import { runRefresh } from './refresh-run.ts'

/** Starts a refresh that no caller waits for, unless one runs in this process, the key’s refresh is suppressed, or `refreshBudget` is used up. */
export function refreshInBackground(
  call: Call,
  entry: Entry,
  storeRead: TimedRead,
  coordinator: LoadCoordinator,
): Flight | undefined {
  const { services, flights, suppression } = coordinator
  const { refreshBudget } = services
  const running = flights.joinable(call.storedKey)
  if (running !== undefined) return running
  if (coordinator.closed) return undefined
  if (suppression.holds(call.storedKey, entry.version, storeRead.judgedAt)) return undefined
  if (refreshBudget !== undefined && !refreshBudget.mayAsk(storeRead.judgedAt)) return undefined
  const flight = new Flight(call.storedKey, true)
  flights.launch(flight, runRefresh(flight, call, storeRead, coordinator))
  void flight.outcome.then((outcome) => {
    // Neither an error that is no failure nor a result that is not kept stops the next load. Without this pause every stale hit would load again.
    const pauses =
      (outcome.kind === 'failed' && outcome.cooldown === 0) || (outcome.kind === 'uncacheable' && outcome.for === 0)
    if (!pauses) return
    suppression.add(call.storedKey, entry.version, services.runtime.now() + call.settings.cooldown.max)
  })
  return flight
}
