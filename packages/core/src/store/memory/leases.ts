import { NO_VERSION } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Acquire, Inspection, Lease, Refused } from '../answers.ts'
import type { AcquireRequest, Ending } from '../store.ts'
import type { EntryTable } from './entry-table.ts'
import { type KeyState, type LeaseState, refusal, stateAfter } from './key-state.ts'

/** The leases of a memory store, and the states that keep one from being granted. */
export class Leases {
  readonly #entries: EntryTable
  readonly #runtime: Runtime

  constructor(entries: EntryTable, runtime: Runtime) {
    this.#entries = entries
    this.#runtime = runtime
  }

  acquire(key: string, request: AcquireRequest): Acquire {
    const now = this.#runtime.elapsed()
    const version = this.#entries.live(key)?.version ?? NO_VERSION
    if (version !== request.seen) return { kind: 'changed' }
    const state = this.#entries.stateOf(key, now)
    const refused = state === undefined ? undefined : refusal(state, now, request)
    return refused ?? this.#grant(key, state?.kind === 'cooling' ? state.attempts : 0, now, request.duration)
  }

  /**
   * The state of the lease, where it is still its holder's: an expired one is, until another caller takes it
   * or an invalidation voids it. A loader that blocks the event loop keeps its own lease from being renewed.
   */
  held({ key, token }: Lease): LeaseState | Refused {
    const state = this.#entries.endedStateOf(key)
    if (state === undefined) return { kind: 'refused', why: 'voided' }
    if (state.kind !== 'lease' || state.token !== token) return { kind: 'refused', why: 'taken' }
    return state
  }

  /** Ends a lease without a commit. */
  end(key: string, ending: Ending): void {
    const state = stateAfter(ending, this.#runtime.elapsed())
    // An uncacheable result takes the old value with it: otherwise that would be served on.
    if (ending.kind === 'uncacheable') this.#entries.remove(key, state)
    else this.#entries.setState(key, state)
  }

  inspect(key: string): Pick<Inspection, 'lease' | 'cooldown'> {
    const now = this.#runtime.elapsed()
    const state = this.#entries.stateOf(key, now)
    return { lease: inspectedLease(state, now), cooldown: inspectedCooldown(state, now) }
  }

  #grant(key: string, attempts: number, now: number, duration: number): Acquire {
    const token = this.#runtime.token()
    const tagSeq = this.#entries.tags.sequence
    const until = now + duration
    this.#entries.setLease(key, { kind: 'lease', token, attempts, grantedAt: now, tagSeq, awaited: false, until })
    return { kind: 'lead', lease: { key, token, attempts, sentAt: now } }
  }
}

function inspectedLease(state: KeyState | undefined, now: number): Inspection['lease'] {
  if (state?.kind !== 'lease') return undefined
  return { heldFor: now - state.grantedAt, remaining: state.until - now, awaited: state.awaited }
}

function inspectedCooldown(state: KeyState | undefined, now: number): Inspection['cooldown'] {
  if (state?.kind !== 'cooling' || state.coolUntil <= now) return undefined
  return { remaining: state.coolUntil - now, attempts: state.attempts, failure: state.failure }
}
