import type { Call, TimedRead } from '../flight/call.ts'
import type { LoadCoordinator } from '../flight/coordinator.ts'
import { Flight } from '../flight/flight.ts'
import type { Entry } from '../entry.ts'
import type { Outcome } from '../load.ts'
import { runRefresh } from './refresh-run.ts'

/** Starts a refresh that no caller waits for, unless one runs in this process or the key’s refresh is suppressed. */
export function refreshInBackground(
  call: Call,
  entry: Entry,
  storeRead: TimedRead,
  coordinator: LoadCoordinator,
): Promise<Outcome> | undefined {
  const { services, flights, suppression } = coordinator
  const running = flights.joinable(call.storedKey)
  if (running !== undefined) {
    call.batch?.onOtherLoad()
    return running.outcome
  }
  if (coordinator.closed) return undefined
  if (suppression.holds(call.storedKey, entry.version, storeRead.judgedAt)) return undefined
  const flight = new Flight(call.storedKey, true)
  flights.launch(flight, runRefresh(flight, call, storeRead, coordinator))
  void flight.outcome.then((outcome) => {
    // An error that is no failure starts no cooldown. Without this pause every stale hit would load again.
    if (outcome.kind !== 'failed' || outcome.cooldown > 0) return
    suppression.add(call.storedKey, entry.version, services.runtime.now() + call.settings.cooldown.max)
  })
  return flight.outcome
}
