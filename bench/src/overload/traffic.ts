/** How calls come to one process: open loop, they do not wait for answers. */
export interface Traffic {
  /** Calls a second; the times between them are exponential, so calls come as a Poisson process. */
  readonly rate: number
  readonly keys: number
  /** Zipf (s = 1): the key of rank r is asked for in proportion to 1 / r. Uniform: every key alike. */
  readonly spread: 'zipf' | 'uniform'
  readonly seed: number
}

export interface Arrival {
  /** ms from the begin. */
  readonly at: number
  /** From 1: the most popular key. */
  readonly rank: number
}

/** The calls of a seed, without end: the same ones for each contender. */
export function* arrivals({ rate, keys, spread, seed }: Traffic): Generator<Arrival, never> {
  const random = lehmer(seed)
  const pick = spread === 'zipf' ? zipf(keys) : (share: number) => Math.floor(share * keys) + 1
  for (let at = 0; ;) {
    at += (-Math.log(1 - random()) / rate) * 1000
    yield { at, rank: pick(random()) }
  }
}

/** Lehmer's generator with the multiplier of MINSTD: numbers from 0 to below 1. */
function lehmer(seed: number): () => number {
  const next = (state: number): number => (state * 48_271) % 2_147_483_647
  // Neighbouring seeds have neighbouring first numbers.
  let state = next(next(next(seed + 1)))
  return () => (state = next(state)) / 2_147_483_647
}

/** The rank at a share of the sum of 1 / r. */
function zipf(keys: number): (share: number) => number {
  const sums: number[] = []
  let sum = 0
  for (let rank = 1; rank <= keys; rank += 1) sums.push((sum += 1 / rank))
  return (share) => {
    const wanted = share * sum
    let [low, high] = [0, keys - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] ?? 0) > wanted) high = middle
      else low = middle + 1
    }
    return low + 1
  }
}
