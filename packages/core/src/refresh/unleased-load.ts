import type { Call } from '../flight/call.ts'
import type { Engine } from '../flight/engine.ts'
import type { Flight, FlightResult } from '../flight/flight.ts'
import { ABSENT, type Outcome } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import type { Away } from '../store/store.ts'
import { isFailure } from './load-error.ts'
import { LoadPermit } from './load-permit.ts'
import { emitOutcome, type LoadResult, LoadRun } from './load-run.ts'
import { settleAbsent, settleBroken, settleWithoutLoad } from './settle-flight.ts'

/**
 * Waits for a permit, then loads for the flight's owner without asking for the lease. `permit`: one that the caller holds already. Always
 * settles the flight, and never rejects.
 */
export async function runUnleased(
  flight: Flight,
  call: Call,
  engine: Engine,
  permit: LoadPermit = new LoadPermit(engine.admission),
): Promise<void> {
  flight.attach(permit)
  try {
    // The batch of this call has a permit for all of its keys, or waits for one: a call that kept its own could make it wait for ever.
    if (call.sharedWaiter !== undefined) permit.release()
    const refused = await permit.acquireFor(flight, call, engine.runtime)
    if (refused === undefined) await loadUnleased(flight, call, 'unleased', engine)
    else settleWithoutLoad(flight, refused)
  } catch (error) {
    settleBroken(flight, error)
  } finally {
    permit.release()
  }
}

/** Loads for a key that is uncacheable: no other load would leave a value to wait for. `share`: whether all callers of this process may get the result. */
export async function loadUncacheable(flight: Flight, call: Call, share: boolean, engine: Engine): Promise<void> {
  if (flight.background) settleWithoutLoad(flight, 'unleased')
  else if (share) await loadUnleased(flight, call, 'unleased', engine)
  else flight.settle({ kind: 'load-alone' }, { kind: 'abandoned', why: 'unleased' })
}

/** Loads while the store is away: one load serves all callers of this process. A background flight has none. */
export async function loadWithoutStore(
  flight: Flight,
  call: Call,
  step: string,
  { cause }: Away,
  engine: Engine,
): Promise<void> {
  const { events } = engine
  if (events.hasListeners('away')) events.emit('away', { key: call.key, step, error: cause })
  if (flight.background) settleWithoutLoad(flight, 'away')
  else await loadUnleased(flight, call, 'away', engine)
}

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
