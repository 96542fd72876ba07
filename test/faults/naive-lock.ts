import { randomUUID } from 'node:crypto'
import { createClient } from 'redis'

const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

/**
 * The lock that most caches are built on: a random token, SET NX PX, released by compare-and-delete. Its holder writes with a plain SET,
 * which asks nobody whether the lock is still its own: that is what the chaos run is to find.
 */
export async function naiveLock(
  url: string,
  namespace: string,
  duration: number,
  load: (key: string) => Promise<number>,
): Promise<(key: string) => Promise<number | undefined>> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return async (key) => {
    const entry = `${namespace}:{${key}}`
    const lock = `${entry}:lock`
    const token = randomUUID()
    const found = await client.get(entry)
    if (found !== null) return Number(found)
    const taken = await client.set(lock, token, { condition: 'NX', expiration: { type: 'PX', value: duration } })
    if (taken === null) return undefined
    const value = await load(key)
    await client.set(entry, String(value), { expiration: { type: 'PX', value: 3_600_000 } })
    await client.eval(COMPARE_AND_DELETE, { keys: [lock], arguments: [token] })
    return value
  }
}
