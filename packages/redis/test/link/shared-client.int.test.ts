import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { Redis } from 'ioredis6'
import { createClient } from 'redis'
import { addressOf } from '../support/ioredis.ts'
import { until } from '../../../../test/support/until.ts'

const STORES = 11

let server: RedisServer
const ends: (() => unknown)[] = []

beforeEach(async () => {
  server = await startRedis({ own: true })
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  await server.stop()
})

type SharedClient = NonNullable<RedisStoreOptions['client']> & {
  listenerCount(event: string): number
  on(event: string, listener: (...args: unknown[]) => void): unknown
}

const clients: Record<string, (url: string) => SharedClient & { connect(): Promise<unknown>; end(): unknown }> = {
  ioredis: (url) => {
    const client = new Redis({ ...addressOf(url), lazyConnect: true })
    return Object.assign(client, { end: () => client.disconnect() })
  },
  'node-redis': (url) => {
    const client = createClient({ url })
    return Object.assign(client, { end: () => client.destroy() })
  },
}

// Node warns of a leak at the eleventh listener of an event.
test.each(Object.entries(clients))(
  'eleven stores on one client of %s add one listener to an event of it',
  async (_, make) => {
    const client = make(server.url)
    client.on('error', () => undefined)
    ends.push(() => client.end())
    const most = new Map<string, number>()
    client.on('newListener', (name) => {
      const event = String(name)
      most.set(event, Math.max(most.get(event) ?? 0, client.listenerCount(event) + 1))
    })
    const events = ['connecting', 'ready', 'end', 'disconnecting', 'close', 'reconnecting']
    const before = events.map((event) => client.listenerCount(event))
    const stores = Array.from({ length: STORES }, (__, index) =>
      redisStore({ client, namespace: `n${index}`, watchdog: '100ms' }),
    )
    ends.push(() => Promise.all(stores.map((store) => store.close())))
    const connected = new Set<number>()
    for (const [index, store] of stores.entries())
      store.watch(({ kind }) => void (kind === 'connected' && connected.add(index)))
    await client.connect()
    await until(() => connected.size === STORES)
    // Beside a client of node-redis, each store opens another connection while the server is silent.
    server.pause()
    const pings: Promise<unknown>[] = []
    if (!('callBuffer' in client))
      await until(() => {
        pings.push(...stores.map((store) => store.ping()))
        return client.listenerCount('end') > (before[2] ?? 0)
      })
    server.resume()
    await Promise.all(pings)
    await Promise.all(stores.map((store) => store.close()))
    expect(events.map((event) => client.listenerCount(event))).toEqual(before)
    expect(Math.max(...events.map((event) => most.get(event) ?? 0))).toBeLessThanOrEqual(2 + Math.max(...before))
  },
)
