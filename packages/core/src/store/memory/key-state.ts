import type { Failure } from '../../errors.ts'
import type { Acquire } from '../answers.ts'
import type { AcquireRequest, Ending } from '../store.ts'

/**
 * The time that a store keeps the count of failures after the cooldown, ms: a key that is asked for once a
 * minute must still back off.
 */
function failureCountLifetime(cooldown: number): number {
  return Math.max(60_000, 2 * cooldown)
}

/** The state of a key beside its entry: one of these at a time, each with its end by `elapsed()`. */
export type KeyState = LeaseState | KeyMark

/** A state that no running load holds. It is kept, and evicted, with the entry of its key. */
export type KeyMark = CoolingState | UncacheableState | HeldOffState

export interface LeaseState {
  readonly kind: 'lease'
  readonly token: string
  readonly attempts: number
  readonly grantedAt: number
  /** The tag sequence when the lease was granted. */
  readonly tagSeq: number
  /** True when a caller waits for the lease's end. */
  awaited: boolean
  until: number
}

interface CoolingState {
  readonly kind: 'cooling'
  /** The end of the cooldown; until `until` only the count of failures is left. */
  readonly coolUntil: number
  readonly attempts: number
  readonly failure: Failure
  readonly until: number
}

interface UncacheableState {
  readonly kind: 'uncacheable'
  readonly share: boolean
  readonly until: number
}

interface HeldOffState {
  readonly kind: 'held-off'
  readonly until: number
}

/**
 * The answer to an acquire that the state does not allow; undefined where it may have the lease. Notes that
 * the caller waits.
 */
export function refusal(
  state: KeyState,
  now: number,
  { wake, maxCooldown = Infinity }: AcquireRequest,
): Acquire | undefined {
  switch (state.kind) {
    case 'lease':
      state.awaited ||= wake
      return { kind: 'held', remaining: state.until - now }
    case 'cooling':
      return state.coolUntil > now && state.coolUntil - now <= maxCooldown
        ? { kind: 'cooling', remaining: state.coolUntil - now, attempts: state.attempts, failure: state.failure }
        : undefined
    case 'uncacheable':
      return { kind: 'uncacheable', remaining: state.until - now, share: state.share }
    case 'held-off':
      return { kind: 'held-off', remaining: state.until - now }
  }
}

/**
 * The state that an invalidation leaves behind: a hold-off until the later end of its own and one that runs.
 */
export function heldOff(state: KeyState | undefined, now: number, holdOff: number): KeyMark | undefined {
  const until = Math.max(now + holdOff, state?.kind === 'held-off' ? state.until : 0)
  return until > now ? { kind: 'held-off', until } : undefined
}

/** The state that a lease leaves behind when it ends without a commit. */
export function stateAfter(ending: Ending, now: number): KeyMark | undefined {
  switch (ending.kind) {
    case 'handover':
      return undefined
    case 'uncacheable':
      return ending.for > 0 ? { kind: 'uncacheable', share: ending.share, until: now + ending.for } : undefined
    case 'failed': {
      const { failure, attempts, cooldown } = ending
      const coolUntil = now + cooldown
      return { kind: 'cooling', coolUntil, attempts, failure, until: coolUntil + failureCountLifetime(cooldown) }
    }
  }
}
