import { answerOf, type Away, type Lease, type Refused } from '../store/answers.ts'
import type { EngineServices } from './engine-services.ts'

export interface LeaseLimits {
  /** The length that a renewal gives the lease, ms. */
  readonly duration: number
  /** The latest end of the lease, ms from its grant: a hung loader loses it then. */
  readonly maxHold: number
}

/** The answer to a renewal. `remaining`: the new length, ms. `max-hold`: the store was not asked. */
export type TermRenewed =
  { readonly kind: 'renewed'; readonly remaining: number } | { readonly kind: 'max-hold' } | Refused | Away

/**
 * The time for which a lease is held, by the clock of its holder. It renews the lease, and knows why the
 * store refuses it.
 */
export class LeaseTerm {
  readonly lease: Lease
  readonly limits: LeaseLimits
  readonly #services: EngineServices
  #endsAt: number
  /** Why the lease was lost. The first reason counts: later the key may be another holder's. */
  #lost: Refused['why'] | undefined

  constructor(lease: Lease, limits: LeaseLimits, services: EngineServices) {
    this.lease = lease
    this.limits = limits
    this.#services = services
    this.#endsAt = lease.sentAt + limits.duration
  }

  /** The rest of the term, ms. */
  get left(): number {
    return Math.max(this.#endsAt - this.#services.runtime.elapsed(), 0)
  }

  async renew(): Promise<TermRenewed> {
    const { store, runtime } = this.#services
    const sentAt = runtime.elapsed()
    const most = this.limits.maxHold - (sentAt - this.lease.sentAt)
    if (most < 1) return { kind: 'max-hold' }
    const remaining = Math.min(this.limits.duration, most)
    const answer = await answerOf(() => store.renew(this.lease, remaining))
    if (answer.kind === 'refused') return this.refusalOf(answer)
    if (answer.kind === 'away') return answer
    this.#endsAt = sentAt + remaining
    return { kind: 'renewed', remaining }
  }

  /**
   * The store's refusal of a step. Another holder can have the lease before its end only after an
   * invalidation of the key has voided it. The store says `taken` only while another lease or a mark stands:
   * after the commit of that lease it says `expired`, or `voided` if it keeps no time of the end.
   */
  refusalOf({ why }: Refused): Refused {
    this.#lost ??= why === 'taken' && this.left > 0 ? 'voided' : why
    return { kind: 'refused', why: this.#lost }
  }
}
