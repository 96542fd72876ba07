import { type Cache, createCache, memoryStore } from '@cattlegrid/core'

/** Prepares `n` of something, and returns what is measured. */
export type Scenario = (n: number) => Promise<() => unknown>

const SHORT_ROUNDS = 3
const ATTEMPTS = 4

/**
 * By which power of `n` the CPU time grows: 1 where the work grows with `n`, 2 where it grows with its square, 0 where `n` does not matter. From the times of
 * `n` and 16 times `n`, so that a garbage collection which falls into one of them, as one of four times the work, changes it by 0.5. What else the machine
 * does only adds, so the short one is run some times, and all is measured again while the power is above `limit`.
 */
export async function growth(n: number, limit: number, scenario: Scenario): Promise<number> {
  let least = Infinity
  for (let attempt = 0; attempt < ATTEMPTS && least > limit; attempt += 1) {
    const few = await leastTime(n, SHORT_ROUNDS, scenario)
    least = Math.min(least, Math.log((await leastTime(16 * n, 1, scenario)) / few) / Math.log(16))
  }
  return least
}

async function leastTime(n: number, rounds: number, scenario: Scenario): Promise<number> {
  let least = Infinity
  for (let round = 0; round < rounds; round += 1) {
    const run = await scenario(n)
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    // Both: the system knows their sum, and guesses from its ticks how it is split.
    least = Math.min(least, user + system)
  }
  // Where there is hardly any work, the clock's own steps are not told from growth.
  return Math.max(least, 2000)
}

export const newCache = (): Cache =>
  createCache({
    ttl: '1m',
    maxWaiters: 1e6,
    maxWaitersPerKey: 1e6,
    store: memoryStore({ maxEntries: 1e6, maxBytes: '4gb' }),
  })
export const numbered = (n: number, name = 'k'): string[] => Array.from({ length: n }, (_, at) => `${name}${at}`)
export const all = (keys: readonly string[]): Map<string, number> => new Map(keys.map((key, at) => [key, at]))
export const hang = (): Promise<never> => new Promise<never>(() => undefined)
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** `n` loads that run until the cache closes. */
export async function withFlights(n: number): Promise<Cache> {
  const cache = newCache()
  for (const key of numbered(n, 'running')) void cache.getOrSet(key, hang).catch(() => undefined)
  await turn()
  return cache
}
