import type { Call } from '../flight/call.ts'
import type { Engine } from '../flight/engine.ts'
import type { Flight, FlightResult } from '../flight/flight.ts'
import { ABSENT, type Outcome } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import { isFailure } from './load-error.ts'
import { emitOutcome, type LoadResult, LoadRun, settleAbsent } from './load-run.ts'

/** Runs the load of a flight without a lease: its callers get the result, and nothing is stored. Never rejects. */
export async function loadUnleased(
  flight: Flight,
  call: Call,
  why: 'unleased' | 'away',
  engine: Engine,
): Promise<void> {
  const load = new LoadRun(call, engine, () => flight.releaseJoiners('load-alone'))
  const { result: loaded, took } = await load.run(flight, undefined, false)
  const absent = loaded.kind === 'value' && loaded.value === ABSENT
  const outcome = absent ? settleAbsent(flight) : outcomeOf(loaded, why)
  const result = flightResultOf(loaded, call.settings)
  flight.settleEarly(result)
  // A late joiner's call may follow an invalidation that the load began before, so it reads again. While the store is away no read can
  // tell, and the late joiner gets the value.
  flight.settle(result.kind === 'loaded' && why === 'unleased' ? { kind: 'retry' } : result, outcome)
  emitOutcome(engine, call.key, outcome, took)
}

function outcomeOf(loaded: LoadResult, why: 'unleased' | 'away'): Outcome {
  if (loaded.kind === 'error') return { kind: 'failed', error: loaded.error, cooldown: 0 }
  return { kind: 'abandoned', why: loaded.kind === 'aborted' ? 'closed' : why }
}

function flightResultOf(loaded: LoadResult, settings: Settings): FlightResult {
  if (loaded.kind === 'value') return { kind: 'loaded', value: loaded.value, freshFor: 0 }
  return { kind: 'failed', error: loaded.error, failure: loaded.kind === 'error' && isFailure(settings, loaded.error) }
}
