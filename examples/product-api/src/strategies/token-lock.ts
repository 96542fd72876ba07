import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis } from './redis-client.ts'
import { TTL_MS, type Answer, type Ranking, type Strategy, type StrategyOptions } from './strategy.ts'

/** Longer than a load, or two callers hold the lock. */
const LOCK_MS = 5_000
const POLL_MS = 50
/** As long as a client waits. */
const GIVE_UP_MS = 10_000

const DELETE_IF_EQUAL = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"

/**
 * The best of the folklore, `h` in the lock-lab: SET NX PX with a token, compare-and-delete in Lua; who does not get the lock polls the entry.
 * The write does not depend on the lock, and a holder that dies blocks everybody for the rest of the lock's time.
 */
export async function tokenLock({ redisUrl, namespace, load }: StrategyOptions): Promise<Strategy> {
  const client = await connectRedis(redisUrl)
  const [key, lock] = [`${namespace}:ranking`, `${namespace}:lock`]
  const remove = async (): Promise<void> => void (await client.del(key))
  let held = 0
  let waiting = 0

  const loadUnderLock = async (token: string): Promise<Answer> => {
    held += 1
    try {
      const ranking = await load()
      await client.set(key, JSON.stringify(ranking), { expiration: { type: 'PX', value: TTL_MS } })
      return { ranking, status: 'loaded', waited: true }
    } finally {
      held -= 1
      await client.eval(DELETE_IF_EQUAL, { keys: [lock], arguments: [token] })
    }
  }

  const waitForTurn = async (): Promise<Answer> => {
    let waited = false
    for (const began = performance.now(); performance.now() - began < GIVE_UP_MS; waited = true) {
      const found = await client.get(key)
      if (found !== null) return { ranking: JSON.parse(found) as Ranking, status: 'fresh', waited }
      const token = randomUUID()
      const reply = await client.set(lock, token, { condition: 'NX', expiration: { type: 'PX', value: LOCK_MS } })
      if (reply === 'OK') return await loadUnderLock(token)
      waiting += 1
      await sleep(POLL_MS)
      waiting -= 1
    }
    throw new Error('the lock was not free in time')
  }

  return {
    answer: waitForTurn,
    expire: remove,
    invalidate: remove,
    leads: () => held > 0,
    waiting: () => waiting,
    close: async () => client.destroy(),
  }
}
