import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { until } from '../support/until.ts'

let listener: Server
let sockets: Socket[]
let port: number
const ends: (() => unknown)[] = []

beforeEach(async () => {
  sockets = []
  // Accepts, reads what is said, and never says anything.
  listener = createServer((socket) => void sockets.push(socket.on('error', () => undefined).resume()))
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  port = (listener.address() as AddressInfo).port
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await silence()
})

/** From here on the port is closed. */
async function silence(): Promise<void> {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => listener.close(resolve))
}

/** A store's own client, which connects behind; and a user's, whose `connect()` does not settle. */
const caches: readonly (readonly [string, () => Cache])[] = [
  ['a client of the store’s own', () => cacheOn(redisStore({ url: `redis://127.0.0.1:${port}` }))],
  [
    'a user’s client',
    () => {
      const client = createClient({ url: `redis://127.0.0.1:${port}` })
      client.on('error', () => undefined)
      client.connect().catch(() => undefined)
      ends.push(() => client.destroy())
      return cacheOn(redisStore({ client }))
    },
  ],
]

function cacheOn(store: ReturnType<typeof redisStore>): Cache {
  return createCache({ store, ttl: '1h' })
}

describe.each(caches)('a port that accepts and never answers, for %s', (_, open) => {
  it('hangs no call, no invalidation and no close', async () => {
    const cache = open()
    await until(() => sockets.length > 0)
    let loads = 0
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => cache.getOrSet('k', () => `load ${(loads += 1)}`)),
    )
    expect(new Set(answers)).toEqual(new Set(['load 1']))
    expect(await cache.get('other')).toBeUndefined()
    await expect(cache.delete('k')).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    await cache.close()
    await expect(cache.getOrSet('k', () => 'late')).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  it('is worked with from when a Redis answers there', async () => {
    const cache = open()
    ends.push(() => cache.close())
    await until(() => sockets.length > 0)
    await cache.getOrSet('k', () => 'alone')
    // Closed in between: whoever connects now is turned away at once.
    await silence()
    expect(await cache.getOrSet('other', () => 'alone')).toBe('alone')
    const server = await startRedis({ port })
    ends.push(() => server.stop())
    await until(async () => (await cache.lookup('k', () => 'stored', { maxAge: 0 })).outcome?.kind === 'committed')
  })
})
