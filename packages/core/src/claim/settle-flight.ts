import { ClosedError, OverloadedError } from '../errors.ts'
import type { Flight } from '../flight/flight.ts'
import type { AbandonReason, Outcome } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import { isOwnAbort } from './load-error.ts'
import type { PermitAnswer } from './load-permit.ts'

/** Settles a flight that ends without a result: its callers read again, unless the cache was closed. */
export function settleAbandoned(flight: Flight, why: AbandonReason): void {
  const result =
    why === 'closed'
      ? { kind: 'failed' as const, error: new ClosedError(), mayServeStale: false }
      : { kind: 'retry' as const }
  flight.settle(result, { kind: 'abandoned', why })
}

/**
 * Settles a flight that gets no permit. Where the source is overloaded its callers get a stale value or
 * the error.
 */
export function settleWithoutPermit(flight: Flight, refused: Extract<PermitAnswer, { kind: 'refused' }>): void {
  const { why } = refused
  if (why !== 'overloaded') return settleAbandoned(flight, why)
  const error = new OverloadedError(flight.key, refused.wait)
  flight.settle({ kind: 'failed', error, mayServeStale: true }, { kind: 'abandoned', why })
}

/**
 * Settles a flight whose batch returned no value for the key. Late joiners read again: the key may have got a
 * value before their call.
 */
export function settleAbsent(flight: Flight): Outcome {
  const outcome: Outcome = { kind: 'abandoned', why: 'absent' }
  flight.settleOwnerAndEarly({ kind: 'absent' })
  flight.settle({ kind: 'retry' }, outcome)
  return outcome
}

/** The owner aborted its load by its own signal; its joiners did not, so they read again. */
export function retryJoinersIfOwnAbort(flight: Flight, settings: Settings, error: unknown): void {
  if (isOwnAbort(settings, error)) flight.settleJoiners('retry')
}

/**
 * Settles a flight in which a store or a policy threw. That breaks its contract, but must not make
 * callers hang.
 */
export function settleBroken(flight: Flight, error: unknown): void {
  flight.settle({ kind: 'failed', error, mayServeStale: true }, { kind: 'failed', error, cooldown: 0 })
}
