import { connectRedis } from './redis-client.ts'
import { TTL_MS, type Ranking, type Strategy, type StrategyOptions } from './strategy.ts'

/** A plain cache in Redis: whoever finds no entry loads. At an expiry that is everybody. */
export async function unprotected({ redisUrl, namespace, load }: StrategyOptions): Promise<Strategy> {
  const client = await connectRedis(redisUrl)
  const key = `${namespace}:ranking`
  const remove = async (): Promise<void> => void (await client.del(key))
  return {
    async answer() {
      const found = await client.get(key)
      if (found !== null) return { ranking: JSON.parse(found) as Ranking, status: 'fresh', waited: false }
      const ranking = await load()
      await client.set(key, JSON.stringify(ranking), { expiration: { type: 'PX', value: TTL_MS } })
      return { ranking, status: 'loaded', waited: true }
    },
    expire: remove,
    invalidate: remove,
    leads: () => false,
    waiting: () => 0,
    close: async () => client.destroy(),
  }
}
