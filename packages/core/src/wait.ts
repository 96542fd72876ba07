import { Deferred } from './deferred.ts'
import type { Engine } from './engine.ts'
import type { Flight, Landing } from './flight.ts'
import type { CancelTimer, Runtime } from './runtime.ts'

/** A caller ends its own wait; the flight goes on for whoever is left. */
export interface GaveUp {
  readonly kind: 'gave-up'
  readonly why: 'soft-timeout' | 'wait-timeout'
}

export interface Patience {
  /** How long to wait while a stale value is in hand, ms. */
  readonly soft: number
  /** How much of the call's `waitTimeout` is left, ms; it runs only while the flight follows. */
  readonly budget: number
  readonly signal: AbortSignal | undefined
}

/**
 * One caller's wait for a flight.
 *
 * @throws the reason of the caller's own signal.
 */
export async function waitFor(
  flight: Flight,
  seat: Promise<Landing>,
  patience: Patience,
  { runtime }: Engine,
): Promise<Landing | GaveUp> {
  const { signal, soft, budget } = patience
  const gaveUp = new Deferred<GaveUp>()
  const aborted = new Deferred<'aborted'>()
  const abort = (): void => aborted.resolve('aborted')
  const giveUp = (why: GaveUp['why']) => (): void => gaveUp.resolve({ kind: 'gave-up', why })
  const cancelSoft = soft === Infinity ? undefined : runtime.schedule(giveUp('soft-timeout'), soft)
  const stopSpending = spend(flight, budget, runtime, giveUp('wait-timeout'))
  signal?.addEventListener('abort', abort)
  if (signal?.aborted === true) abort()
  try {
    const end = await Promise.race([seat, gaveUp.promise, aborted.promise])
    if (end === 'aborted') throw signal?.reason
    if (end.kind === 'gave-up' && end.why === 'soft-timeout') flight.want()
    return end
  } finally {
    cancelSoft?.()
    stopSpending()
    signal?.removeEventListener('abort', abort)
    flight.leave()
  }
}

/** Calls `onSpent` once the flight has followed for `budget` ms from now on: its time as a leader does not count. */
function spend(flight: Flight, budget: number, runtime: Runtime, onSpent: () => void): () => void {
  const before = flight.followed(runtime.now())
  let cancel: CancelTimer | undefined
  const look = (): void => {
    cancel?.()
    const left = budget - (flight.followed(runtime.now()) - before)
    // A timer runs only while the flight follows; when it does so again, it is looked at again.
    if (left > 0) cancel = flight.following ? runtime.schedule(look, left) : undefined
    else if (flight.following) onSpent()
  }
  const unwatch = flight.watchFollow(look)
  look()
  return () => {
    cancel?.()
    unwatch()
  }
}
