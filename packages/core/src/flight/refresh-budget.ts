import type { RefreshLimits } from '../options/settings.ts'
import { RefreshQuota, type RefreshRequest } from '../refresh-quota.ts'
import type { Runtime } from '../runtime.ts'
import type { Store } from '../store/store.ts'

/** So many requests are under way at once: a burst of stale hits must not send one each before the first answer. */
const MOST_ASKING = 32
/** The greatest part by which the pause after a refusal is lengthened, at random: the processes of a fleet must not ask at the same moment. */
const JITTER = 0.25

/** Limits the background refreshes of all processes that share the store. While the store is away, it limits those of this process alone. */
export class RefreshBudget {
  readonly #limits: RefreshLimits
  readonly #store: Store
  readonly #runtime: Runtime
  /** Counts while the store is away. */
  readonly #local = new RefreshQuota()
  #asking = 0
  #pausedUntil = -Infinity

  constructor(limits: RefreshLimits, store: Store, runtime: Runtime) {
    this.#limits = limits
    this.#store = store
    this.#runtime = runtime
  }

  /** False while no refresh would get a permit, as far as this process knows: then none begins. */
  mayAsk(now: number): boolean {
    return now >= this.#pausedUntil && this.#asking < MOST_ASKING
  }

  /** `holdFor`: the longest time that the refresh takes, ms. */
  newRequest(holdFor: number): RefreshRequest {
    const { perSecond, atOnce } = this.#limits
    return { token: this.#runtime.token(), perSecond, atOnce, holdFor }
  }

  /** Resolves to true when the refresh may begin. After a refusal none begins in this process until the store's `retryAfter`. */
  async ask(request: RefreshRequest): Promise<boolean> {
    this.#asking += 1
    try {
      const answer = await this.#store.permitRefresh(request)
      if (answer.kind === 'granted') return true
      const now = this.#runtime.now()
      const retryAfter = answer.kind === 'away' ? this.#local.grant(request, now) : answer.retryAfter
      if (retryAfter > 0) this.#pausedUntil = now + retryAfter * (1 + JITTER * this.#runtime.random())
      return retryAfter === 0
    } finally {
      this.#asking -= 1
    }
  }

  /** Ends a granted permit; `unused`: nothing was loaded. Never rejects. */
  async end(request: RefreshRequest, unused: boolean): Promise<void> {
    const { atOnce } = this.#limits
    this.#local.end(request, unused)
    // One refresh fewer runs.
    if (atOnce !== undefined) this.#pausedUntil = -Infinity
    try {
      if (unused || atOnce !== undefined) await this.#store.endRefresh(request, unused)
    } catch {
      // The permit ends by itself.
    }
  }
}
