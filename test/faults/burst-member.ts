// One process of an application that asks for many cold keys at once.
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { lookupByClaim } from '../support/lookup-by-claim.ts'

export interface BurstCommand {
  readonly how: 'calls' | 'batch'
  readonly keys: number
}

export interface BurstResult {
  /** The calls that got the value of their key. */
  readonly right: number
  /** The keys that this process loaded. */
  readonly loaded: readonly string[]
  /** The steps for which the store was away, and the changes of the breaker. */
  readonly away: readonly string[]
}

const store = redisStore({ url: process.env['BURST_REDIS'] ?? '' })
// Longer than the whole burst lasts on a slow machine: the other process loads a key whose lease has ended.
const lease = { duration: '5m' } as const
const cache = createCache({ store, lease, ttl: '1h', storeTimeout: '1s', waitTimeout: '5m', maxWaiters: 1_000_000 })
await new Promise<void>((resolve) => cache.on('notices', () => resolve()))

/** Every second key is claimed. */
async function get(key: string, index: number, load: (key: string) => string): Promise<string> {
  if (index % 2 === 0) return await cache.getOrSet(key, () => load(key))
  return (await lookupByClaim(cache, key, () => load(key))).value
}

async function burst({ how, keys: count }: BurstCommand): Promise<BurstResult> {
  const loaded: string[] = []
  const away = new Set<string>()
  const stops = [
    cache.on('away', ({ step, error }) => void away.add(`${step}: ${String(error)}`)),
    cache.on('breaker', ({ state }) => void away.add(`breaker ${state}`)),
  ]
  const load = (key: string): string => {
    loaded.push(key)
    return `value of ${key}`
  }
  const keys = Array.from({ length: count }, (_, index) => `${how} ${index}`)
  const values =
    how === 'batch'
      ? await cache.getOrSetMany(keys, (missing) => new Map(missing.map((key) => [key, load(key)])))
      : new Map(await Promise.all(keys.map(async (key, index) => [key, await get(key, index, load)] as const)))
  for (const stop of stops) stop()
  return { right: keys.filter((key) => values.get(key) === `value of ${key}`).length, loaded, away: [...away] }
}

process.on('message', ({ id, command }: { id: number; command: BurstCommand }) => {
  burst(command).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  )
})
process.send?.({ ready: true })
