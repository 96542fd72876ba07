import type { ClaimedAlone } from '../claimed.ts'
import type { Call } from '../flight/call.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Flight } from '../flight/flight.ts'
import type { Settled } from '../flight/flight-waiters.ts'
import { ABSENT, type Outcome } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import { isFailure } from './load-error.ts'
import { LoadPermit } from './load-permit.ts'
import { emitOutcome, type LoadResult, LoadRun } from './load-run.ts'
import {
  retryJoinersIfOwnAbort,
  settleAbsent,
  settleBroken,
  settleAbandoned,
  settleWithoutPermit,
} from './settle-flight.ts'

/** Why a load has no lease. */
export type AloneWhy = ClaimedAlone['why']

/**
 * Waits for a permit, then loads for the flight's owner without asking for the lease. `permit`: one that the
 * caller holds already. Always settles the flight, and never rejects.
 */
export async function loadAlone(
  flight: Flight,
  call: Call,
  why: AloneWhy,
  services: EngineServices,
  permit: LoadPermit = new LoadPermit(call.permits, call.settings.waitTimeout),
): Promise<void> {
  flight.setStep(permit)
  try {
    // A claim that brings no lead is no load: it needs no permit.
    const answer = call.handOut === undefined ? await permit.acquireFor(flight) : undefined
    if (answer?.kind === 'refused') settleWithoutPermit(flight, answer)
    else await loadUnleased(flight, call, why, services, permit)
  } catch (error) {
    settleBroken(flight, error)
  } finally {
    permit.release()
  }
}

/**
 * Runs the load of a flight without a lease: its callers get the result, and nothing is stored. A background
 * flight does not load. Never rejects.
 */
export async function loadUnleased(
  flight: Flight,
  call: Call,
  why: AloneWhy,
  services: EngineServices,
  permit: LoadPermit,
): Promise<void> {
  const abandoned = why === 'away' ? 'away' : 'unleased'
  if (flight.background) return settleAbandoned(flight, abandoned)
  if (call.handOut !== undefined) {
    flight.settleJoiners('load-alone')
    call.handOut.onAlone(why)
    return settleAbandoned(flight, abandoned)
  }
  // A late joiner's call may follow an invalidation that the load began before, so it reads again. While the
  // store is away no read can tell, and the late joiner gets the value.
  if (why !== 'away') flight.letLateJoinersReadAgain()
  const load = new LoadRun(call, services, permit, () => flight.settleJoiners('load-alone'))
  const { result: loaded, took } = await load.run(flight, undefined, false)
  const outcome = settle(flight, call.settings, loaded, abandoned)
  emitOutcome(services, flight, outcome, took, false)
}

function settle(flight: Flight, settings: Settings, loaded: LoadResult, why: 'unleased' | 'away'): Outcome {
  if (loaded.kind === 'abandoned') {
    settleAbandoned(flight, loaded.why)
    return { kind: 'abandoned', why: loaded.why }
  }
  if (loaded.kind === 'value' && loaded.value === ABSENT) return settleAbsent(flight)
  const outcome: Outcome =
    loaded.kind === 'error' ? { kind: 'failed', error: loaded.error, cooldown: 0 } : { kind: 'abandoned', why }
  const result = settledOf(loaded, settings)
  if (loaded.kind === 'error') retryJoinersIfOwnAbort(flight, settings, loaded.error)
  flight.settleOwnerAndEarly(result)
  flight.settle(result.kind === 'loaded' && flight.lateJoinersReadAgain ? { kind: 'retry' } : result, outcome)
  return outcome
}

function settledOf(loaded: Exclude<LoadResult, { kind: 'abandoned' }>, settings: Settings): Settled {
  if (loaded.kind === 'value') return { kind: 'loaded', value: loaded.value, freshFor: 0 }
  return {
    kind: 'failed',
    error: loaded.error,
    mayServeStale: isFailure(settings, loaded.error),
  }
}
