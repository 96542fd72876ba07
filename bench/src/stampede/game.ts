/** What a contender is opened for. */
export interface Game {
  /** ms */
  readonly loadTime: number
  readonly fails?: boolean
  /** Of a value. */
  readonly bytes?: number
  readonly ttl: number
  readonly stale: number
  readonly redis: string | undefined
  readonly namespace: string
}

/** Callers that come at the same moment. */
export interface Burst {
  readonly keys: readonly string[]
  /** For each key, in each process. */
  readonly callers: number
  /** When, by the clock of the machine, ms since 1970. */
  readonly at: number
  /** Whoever has no answer by then, ms from the begin, has none. */
  readonly patience: number
}

/** Callers that come again and again. */
export interface Stream {
  readonly key: string
  readonly callers: number
  /** Between two calls of a caller, ms. */
  readonly pause: number
  readonly at: number
  readonly duration: number
}

/** What one process saw. */
export interface Answers {
  /** When each load began. */
  readonly loads: readonly number[]
  /** When each load ended. */
  readonly loaded: readonly number[]
  /** How long each answered call took, ms. */
  readonly times: readonly number[]
  readonly failed: number
  readonly unanswered: number
  /** When the last call was answered. */
  readonly lastAt: number
}

export function together(all: readonly Answers[]): Answers {
  return {
    loads: all.flatMap(({ loads }) => loads).toSorted((one, other) => one - other),
    loaded: all.flatMap(({ loaded }) => loaded),
    times: all.flatMap(({ times }) => times).toSorted((one, other) => one - other),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    unanswered: all.reduce((sum, { unanswered }) => sum + unanswered, 0),
    lastAt: Math.max(...all.map(({ lastAt }) => lastAt)),
  }
}

/** How many loads belong to one expiry: those that began while the first of them could still have been under way. */
export function loadsPerExpiry(loads: readonly number[], loadTime: number): number {
  let expiries = 0
  let first = Number.NEGATIVE_INFINITY
  for (const at of loads) {
    if (at - first < loadTime) continue
    first = at
    expiries += 1
  }
  return expiries === 0 ? 0 : loads.length / expiries
}
