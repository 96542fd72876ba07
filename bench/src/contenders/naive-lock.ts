import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Open, Opened } from './contender.ts'
import { connected } from './node-redis.ts'

const POLL = 50
const LOCK = 5000
const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

/** What most people write first: SET NX PX with a random token, and everybody else asks again every 50 ms. */
export const open: Open = async ({ load, ttl, redis, namespace }) => {
  const client = await connected(redis ?? '')
  const get = async (key: string): Promise<unknown> => {
    const entry = `${namespace}:${key}`
    const lock = `${entry}:lock`
    for (;;) {
      const text = await client.get(entry)
      if (text !== null) return JSON.parse(text)
      const token = randomUUID()
      if ((await client.set(lock, token, { condition: 'NX', expiration: { type: 'PX', value: LOCK } })) !== null) {
        try {
          const value = await load(key)
          await client.set(entry, JSON.stringify(value), { expiration: { type: 'PX', value: ttl } })
          return value
        } finally {
          await client.eval(RELEASE, { keys: [lock], arguments: [token] })
        }
      }
      await sleep(POLL)
    }
  }
  return { get, close: () => client.close() }
}

/** The same with one caller per process at the lock: the others share its promise. */
export const openBehindFlight: Open = async (setting) => {
  const inner = await open(setting)
  const flights = new Map<string, Promise<unknown>>()
  const get: Opened['get'] = (key) => {
    const running = flights.get(key)
    if (running !== undefined) return running
    const flight = inner.get(key).finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }
  return { get, close: inner.close }
}
