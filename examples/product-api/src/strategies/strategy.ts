export const STRATEGIES = ['unprotected', 'in-process', 'token-lock', 'cattlegrid'] as const

/** How an API keeps its ranking in a cache, and what it does about a stampede. */
export type StrategyName = (typeof STRATEGIES)[number]

/** A cached ranking is fresh for this long, whatever the strategy. */
export const TTL_MS = 4_000

export interface RankedProduct {
  readonly id: number
  readonly name: string
  readonly rating: number
}

export interface Ranking {
  /** The revision of the source that was current when the load began. */
  readonly revision: number
  readonly best: readonly RankedProduct[]
}

/** `stale`: a copy whose lifetime is over, by a strategy that allows it. */
export interface Answer {
  readonly ranking: Ranking
  readonly status: 'fresh' | 'stale' | 'loaded'
  /** The call waited for a load: its own or that of another. */
  readonly waited: boolean
}

export interface Strategy {
  answer(): Promise<Answer>
  /** Ends the entry's lifetime, in the caches that this process reaches. */
  expire(): Promise<void>
  /** To be called when the source has changed: no older ranking should be served from now on. */
  invalidate(): Promise<void>
  /** True while this process has the right to load that the others wait for. */
  leads(): boolean
  /** Calls that wait for the load of another call, here or in another process. */
  waiting(): number
  close(): Promise<void>
}

export interface StrategyOptions {
  readonly redisUrl: string
  /** Prefix of every key in Redis. */
  readonly namespace: string
  readonly load: () => Promise<Ranking>
}
