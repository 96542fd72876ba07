import { type Cache, createCache, memoryStore } from '@cattlegrid/core'

/** Prepares `n` of something, and returns what is measured. */
export type Scenario = (n: number) => Promise<() => unknown>

const ROUNDS = 2
const ATTEMPTS = 3

/**
 * How many times the CPU time of `n` four times `n` takes: 4 where the work grows with `n`, 16 where it grows with its square, 1 where `n` does not matter. The
 * least of several rounds: what else the machine does only adds. Measured again while it is above `limit`.
 */
export async function growth(n: number, limit: number, scenario: Scenario): Promise<number> {
  let least = Infinity
  for (let attempt = 0; attempt < ATTEMPTS && least > limit; attempt += 1) {
    const few = await leastTime(n, scenario)
    least = Math.min(least, (await leastTime(4 * n, scenario)) / few)
  }
  return least
}

async function leastTime(n: number, scenario: Scenario): Promise<number> {
  let least = Infinity
  for (let round = 0; round < ROUNDS; round += 1) {
    const run = await scenario(n)
    const before = process.cpuUsage()
    await run()
    const { user } = process.cpuUsage(before)
    least = Math.min(least, user)
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
