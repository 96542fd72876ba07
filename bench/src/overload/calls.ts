/** How a call ended: `refused` by the cache, `failed` in the loader, `gone`: its client waited no longer. */
export type End = 'value' | 'refused' | 'failed' | 'gone'

/** What one process recorded of its calls: a list for each fact, with one place for each call. */
export interface Calls {
  /** When it was to come, ms from the begin. */
  readonly at: number[]
  /** ms */
  readonly took: number[]
  readonly end: End[]
  readonly rank: number[]
}

/** A client that gets its value later than this is not served well, ms. */
const GOOD = 2000
/** A client waits for so long, ms. */
export const PATIENCE = 10_000

export interface Tally {
  readonly calls: number
  readonly good: number
  readonly late: number
  readonly refused: number
  readonly failed: number
  readonly gone: number
}

export function together(all: readonly Calls[]): Calls {
  return {
    at: all.flatMap(({ at }) => at),
    took: all.flatMap(({ took }) => took),
    end: all.flatMap(({ end }) => end),
    rank: all.flatMap(({ rank }) => rank),
  }
}

/** What came of the calls of each second from 0 on; `counts`: the keys that are looked at. */
export function perSecond(calls: Calls, seconds: number, counts: (rank: number) => boolean): readonly Tally[] {
  const none = { calls: 0, good: 0, late: 0, refused: 0, failed: 0, gone: 0 }
  const tallies = Array.from({ length: seconds }, () => ({ ...none }))
  for (const [place, at] of calls.at.entries()) {
    const tally = tallies[Math.floor(at / 1000)]
    if (tally === undefined || !counts(calls.rank[place] ?? 0)) continue
    const end = calls.end[place] ?? 'gone'
    tally.calls += 1
    if (end !== 'value') tally[end] += 1
    else if ((calls.took[place] ?? 0) <= GOOD) tally.good += 1
    else tally.late += 1
  }
  return tallies
}

/** The share of good calls, in per cent; NaN where none came. */
export function goodShare(tallies: readonly Tally[]): number {
  const sum = (what: 'calls' | 'good'): number => tallies.reduce((total, tally) => total + tally[what], 0)
  return (100 * sum('good')) / sum('calls')
}
