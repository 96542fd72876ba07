/** Numbers of hits, by the copy of the entry that answered them. */
export interface HitCounts {
  readonly store: number
  readonly near: number
  readonly outage: number
}

/**
 * What a cache has done in this process, and does now. It is counted in any case, because a listener of each
 * hit would cost more than the hit.
 */
export interface CacheStats {
  /** The calls that an entry answered at once, since the cache was created. */
  readonly hits: { readonly fresh: HitCounts; readonly stale: HitCounts }
  /** The calls that wait now, as `maxWaiters` counts them. */
  readonly waiting: number
  /** The loads that run now. */
  readonly loading: number
  /** The leases that this process holds now. */
  readonly leases: number
  /**
   * True while the notices of the store arrive from all of its parts. False until they first do, if the store
   * is shared.
   */
  readonly noticesConnected: boolean
}

type MutableCounts = { -readonly [K in keyof HitCounts]: number }

/** The counters of one cache that its calls raise as they go. */
export class Activity {
  readonly fresh: MutableCounts = { store: 0, near: 0, outage: 0 }
  readonly stale: MutableCounts = { store: 0, near: 0, outage: 0 }
  loading = 0
  leases = 0
  /** The parts of the store whose notices may be lost; '' stands for all. */
  readonly #silentNodes: Set<string>

  /**
   * `shared`: whether the store has notices of other processes. They do not arrive before its first
   * `connected`.
   */
  constructor(shared: boolean) {
    this.#silentNodes = new Set(shared ? [''] : [])
  }

  get noticesConnected(): boolean {
    return this.#silentNodes.size === 0
  }

  /** `waiting`: the calls that wait now. */
  stats(waiting: number): CacheStats {
    const { fresh, stale, loading, leases, noticesConnected } = this
    return { hits: { fresh: { ...fresh }, stale: { ...stale } }, waiting, loading, leases, noticesConnected }
  }

  noteNotices(kind: 'connected' | 'disconnected', node: string | undefined): void {
    if (kind === 'disconnected') this.#silentNodes.add(node ?? '')
    else if (node === undefined) this.#silentNodes.clear()
    else this.#silentNodes.delete(node)
  }
}
