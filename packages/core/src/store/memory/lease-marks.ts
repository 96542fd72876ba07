import type { Failure } from '../../errors.ts'
import type { Acquire, Ending } from '../store.ts'

/** What stands where a lease would: one mark at a time, each with its end on the store's clock. */
export type KeyState =
  | {
      readonly kind: 'lease'
      readonly token: string
      readonly attempts: number
      readonly grantedAt: number
      readonly tagSeq: number
      awaited: boolean
      until: number
    }
  | {
      readonly kind: 'cooling'
      readonly coolUntil: number
      readonly attempts: number
      readonly failure: Failure
      readonly until: number
    }
  | { readonly kind: 'uncacheable'; readonly share: boolean; readonly until: number }
  | { readonly kind: 'held-off'; readonly until: number }

export type LeaseState = Extract<KeyState, { kind: 'lease' }>

/** What an acquire is told when somebody or something is in its way; notes that it waits. */
export function refusal(mark: KeyState, now: number, wake: boolean): Acquire | undefined {
  switch (mark.kind) {
    case 'lease':
      mark.awaited ||= wake
      return { kind: 'held', remaining: mark.until - now }
    case 'cooling':
      return mark.coolUntil > now
        ? { kind: 'cooling', remaining: mark.coolUntil - now, attempts: mark.attempts, failure: mark.failure }
        : undefined
    case 'uncacheable':
      return { kind: 'uncacheable', remaining: mark.until - now, share: mark.share }
    case 'held-off':
      return { kind: 'held-off', remaining: mark.until - now }
  }
}

/** How long the count of failures in a row outlives its cooldown at least, ms. */
const COUNT_KEPT = 60_000

export function stateAfter(ending: Ending, now: number): KeyState | undefined {
  switch (ending.kind) {
    case 'handover':
      return undefined
    case 'uncacheable':
      return { kind: 'uncacheable', share: ending.share, until: now + ending.for }
    case 'failed': {
      const { failure, attempts, cooldown } = ending
      // The count outlives the cooldown, else the next failure would begin at one again.
      return {
        kind: 'cooling',
        coolUntil: now + cooldown,
        attempts,
        failure,
        until: now + cooldown + Math.max(COUNT_KEPT, 2 * cooldown),
      }
    }
  }
}
