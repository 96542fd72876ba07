import type { RefreshLimits } from '../options/settings.ts'
import { RefreshQuota, type RefreshRequest } from '../store/refresh-quota.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { RefreshPermitted } from '../store/answers.ts'
import type { Store } from '../store/store.ts'

/**
 * The most requests under way at once: a burst of stale hits must not send one each before the
 * first answer.
 */
const MOST_ASKING = 32
/**
 * The greatest part by which the pause after a refusal is lengthened, at random: the processes of a fleet
 * must not ask at the same moment.
 */
const JITTER = 0.25

/**
 * Limits the background refreshes of all processes that share the store. While the store is away, it limits
 * those of this process alone.
 */
export class RefreshBudget {
  readonly #limits: RefreshLimits
  readonly #store: Store
  readonly #runtime: Runtime
  /** Counts while the store is away. */
  readonly #local = new RefreshQuota()
  /** The requests that it granted. */
  readonly #grantedLocally = new WeakSet<RefreshRequest>()
  #asking = 0
  /** The requests that may be under way: one after a refusal, twice as many after each grant. */
  #maxAsking = MOST_ASKING
  #pausedUntil = -Infinity
  /** The number of permits that ended, where `atOnce` counts them. */
  #ended = 0

  constructor(limits: RefreshLimits, store: Store, runtime: Runtime) {
    this.#limits = limits
    this.#store = store
    this.#runtime = runtime
  }

  /**
   * False after a refusal until it is time to ask again, and while the most requests allowed await their
   * answer: no background refresh begins then.
   */
  mayAsk(now: number): boolean {
    return now >= this.#pausedUntil && this.#asking < this.#maxAsking
  }

  /**
   * Begins a request, which ends with its answer or with `withdrawRequest`. `holdFor`: the longest time that
   * the refresh takes, ms.
   */
  beginRequest(holdFor: number): RefreshRequest {
    this.#asking += 1
    const { perSecond, atOnce } = this.#limits
    return { token: this.#runtime.token(), perSecond, atOnce, holdFor }
  }

  /** Ends a request that was not sent. */
  withdrawRequest(): void {
    this.#asking -= 1
  }

  /**
   * Sends a request. Resolves to true when the refresh may begin. After a refusal this process sends no new
   * request for a while.
   */
  async ask(request: RefreshRequest): Promise<boolean> {
    const ended = this.#ended
    try {
      const answer = await this.#store.permitRefresh(request)
      const now = this.#runtime.elapsed()
      const retryAfter = this.#retryAfter(answer, request, now)
      this.#maxAsking = retryAfter > 0 ? 1 : Math.min(2 * this.#maxAsking, MOST_ASKING)
      // A permit that ended meanwhile may be free for the next request.
      if (retryAfter > 0 && ended === this.#ended)
        this.#pausedUntil = now + retryAfter * (1 + JITTER * this.#runtime.random())
      return retryAfter === 0
    } finally {
      this.#asking -= 1
    }
  }

  /** The time after which to ask again, ms; 0 for a granted permit. */
  #retryAfter(answer: RefreshPermitted, request: RefreshRequest, now: number): number {
    return answer.kind === 'granted' ? 0 : answer.kind === 'away' ? this.#grantLocally(request, now) : answer.retryAfter
  }

  #grantLocally(request: RefreshRequest, now: number): number {
    const retryAfter = this.#local.grant(request, now)
    if (retryAfter === 0) this.#grantedLocally.add(request)
    return retryAfter
  }

  /**
   * Ends a granted permit; `unused`: nothing was loaded, so its share of the rate goes back to what granted
   * it. Never rejects.
   */
  async endPermit(request: RefreshRequest, unused: boolean): Promise<void> {
    const { atOnce } = this.#limits
    const local = this.#grantedLocally.has(request)
    if (local) this.#local.end(request, unused)
    if (atOnce !== undefined) this.#endPause()
    try {
      // A local permit, too, if `atOnce` counts it: the store may have granted it, and its answer was lost.
      const givesBack = unused && !local
      if (givesBack || atOnce !== undefined) await this.#store.endRefresh(request, givesBack)
    } catch {
      // The permit ends by itself.
    }
  }

  /** One refresh fewer runs. */
  #endPause(): void {
    this.#ended += 1
    this.#pausedUntil = -Infinity
  }
}
