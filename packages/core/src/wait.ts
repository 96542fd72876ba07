import type { Engine } from './engine.ts'
import type { Flight, Landing } from './flight.ts'
import type { CancelTimer } from './runtime.ts'

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

/** A spent budget ends the wait at the latest this long after the flight follows again, ms. */
const LOOK_AGAIN = 10

/**
 * One caller's wait for a flight.
 *
 * @throws the reason of the caller's own signal.
 */
export function waitFor(
  flight: Flight,
  seat: Promise<Landing>,
  patience: Patience,
  { runtime }: Engine,
): Promise<Landing | GaveUp> {
  return new Promise((resolve, reject) => {
    const { signal } = patience
    const cancels: CancelTimer[] = []
    let over = false
    const leave = (): boolean => {
      if (over) return false
      over = true
      for (const cancel of cancels) cancel()
      signal?.removeEventListener('abort', abort)
      flight.leave()
      return true
    }
    const end = (result: Landing | GaveUp): void => {
      if (leave()) resolve(result)
    }
    const abort = (): void => {
      if (leave()) reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort)
    if (patience.soft !== Infinity)
      cancels.push(runtime.schedule(() => end({ kind: 'gave-up', why: 'soft-timeout' }), patience.soft))
    const followedBefore = flight.followed(runtime.now())
    const spend = (wait: number): void => {
      cancels.push(
        runtime.schedule(() => {
          // The time as a leader does not count: what is left of the budget is waited again.
          const left = patience.budget - (flight.followed(runtime.now()) - followedBefore)
          if (left <= 0 && flight.following) end({ kind: 'gave-up', why: 'wait-timeout' })
          else spend(Math.max(left, LOOK_AGAIN))
        }, wait),
      )
    }
    spend(patience.budget)
    void seat.then(end)
  })
}
