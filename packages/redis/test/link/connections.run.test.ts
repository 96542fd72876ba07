import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient, RESP_TYPES } from 'redis'
import { entryOf, found, lead, LONG, put, request } from '../../../../test/support/entries.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

let server: RedisServer
let admin: Client
const ends: (() => unknown)[] = []

beforeEach(async () => {
  server = await startRedis({ own: true })
  admin = await connect(server.url)
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  admin.destroy()
  await server.stop()
})

function watched(store: Store): { readonly notices: readonly Notice[]; readonly kinds: () => readonly string[] } {
  const notices: Notice[] = []
  store.watch((notice) => void notices.push(notice))
  return { notices, kinds: () => notices.map(({ kind }) => kind) }
}

const connections = async (): Promise<number> => (await admin.clientList()).length - 1

describe('the user’s client', () => {
  test('gets one more connection, for wake-ups, which is closed with the store', async () => {
    const client = await connect(server.url)
    ends.push(() => client.destroy())
    const store = redisStore({ client })
    const { kinds } = watched(store)
    store.watch(() => undefined)
    await until(() => kinds().includes('connected'))
    expect(await connections()).toBe(2)
    await store.close()
    await until(async () => (await connections()) === 1)
    expect(await client.ping()).toBe('PONG')
    expect((await store.read('k', json)).kind).toBe('away')
  })

  test('may have any options: none of them changes what the store sends or reads', async () => {
    const client = createClient({
      url: server.url,
      RESP: 2,
      commandOptions: {
        timeout: 1,
        asap: true,
        typeMapping: { [RESP_TYPES.NUMBER]: String, [RESP_TYPES.BLOB_STRING]: Buffer },
      },
    })
    client.on('error', () => undefined)
    await client.connect()
    ends.push(() => client.destroy())
    const store = redisStore({ client })
    const { kinds } = watched(store)
    await until(() => kinds().includes('connected'))
    await store.commit(await lead(store, 'short'), entryOf(1), json)
    const value = 'v'.repeat(100_000)
    expect((await store.commit(await lead(store, 'k'), entryOf(value, { tags: ['t'] }), json)).kind).toBe('stored')
    expect((await found(store, 'k')).value).toBe(value)
    expect(await admin.keys('*:t:*')).toEqual([])
    const failed = { kind: 'failed', failure: { name: 'E', code: 'c' }, cooldown: LONG, attempts: 2 } as const
    await store.release(await lead(store, 'k2'), failed)
    expect(await store.acquire('k2', request)).toMatchObject({
      kind: 'cooling',
      attempts: 2,
      failure: { name: 'E', code: 'c' },
    })
    expect(await store.inspect('k2')).toMatchObject({ cooldown: { attempts: 2 } })
    expect(await store.clear()).toEqual({ kind: 'cleared', entries: 2 })
    await until(() => kinds().includes('cleared'))
    await store.close()
  })

  test('that gives up when the server is gone leaves the store away, and the connection for wake-ups returns by itself', async () => {
    const client = createClient({ url: server.url, socket: { reconnectStrategy: false } })
    client.on('error', () => undefined)
    await client.connect()
    const store = redisStore({ client })
    ends.push(() => store.close())
    const { kinds } = watched(store)
    await until(() => kinds().includes('connected'))
    await server.kill()
    await until(() => kinds().includes('disconnected'))
    expect((await store.read('k', json)).kind).toBe('away')
    server = await startRedis({ port: server.port })
    await until(() => kinds().lastIndexOf('connected') > kinds().indexOf('disconnected'))
  })
})

test('a connection for wake-ups that gets an error, and does not break, is heard again', async () => {
  await admin.configSet('busy-reply-threshold', '10')
  const client = createClient({ url: server.url, pingInterval: 50 })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  const store = redisStore({ client })
  ends.push(() => store.close())
  const { kinds } = watched(store)
  await until(() => kinds().includes('connected'))
  const busy = admin.eval('while true do end').catch(() => 'killed')
  await until(() => kinds().includes('disconnected'))
  const other = await connect(server.url)
  ends.push(() => other.destroy())
  await until(async () => (await other.sendCommand(['SCRIPT', 'KILL']).catch(() => '')) === 'OK')
  expect(await busy).toBe('killed')
  await until(() => kinds().at(-1) === 'connected')
  await put(store, 'k', 1)
  await until(() => kinds().includes('committed'))
})

describe('the client that the store creates', () => {
  test('connects in the background, works, and is closed with the store', async () => {
    const store = redisStore({ url: server.url })
    expect((await store.read('k', json)).kind).toBe('away')
    const { kinds } = watched(store)
    await until(() => kinds().includes('connected'))
    await put(store, 'k', 1)
    expect((await found(store, 'k')).value).toBe(1)
    expect(await connections()).toBe(2)
    await store.close()
    await store.close()
    await until(async () => (await connections()) === 0)
  })

  test('reconnects to a server that is not there yet, of which it warns once, and to one that goes away', async () => {
    await server.kill()
    const store = redisStore({ url: server.url })
    ends.push(() => store.close())
    const { kinds } = watched(store)
    expect((await store.acquire('k', request)).kind).toBe('away')
    await until(() => kinds().includes('warning'))
    for (let round = 0; round < 2; round += 1) {
      server = await startRedis({ port: server.port })
      await until(async () => (await store.inspect('k')).kind === 'found')
      await lead(store, `k${round}`)
      await server.kill()
      await until(async () => (await store.inspect('k')).kind === 'away')
    }
    expect(kinds().filter((kind) => kind === 'warning')).toHaveLength(1)
  })

  test('is closed although the server is frozen', async () => {
    const store = redisStore({ url: server.url })
    await until(async () => (await store.inspect('k')).kind === 'found')
    server.pause()
    const pending = store.read('k', json)
    await store.close()
    expect((await pending).kind).toBe('away')
    server.resume()
  })
})

describe('messages on the channel', () => {
  test('that the library did not send change nothing', async () => {
    const store = redisStore({ url: server.url })
    ends.push(() => store.close())
    const { notices, kinds } = watched(store)
    await until(() => kinds().includes('connected'))
    for (const message of ['', 'x', 'committed', 'tags', 'tags 1 [', '\0', Buffer.from([0xff, 0xfe])])
      await admin.publish('cattlegrid:wake', message)
    await store.invalidate('k', 'delete', 0)
    await until(() => kinds().includes('deleted'))
    expect(notices).toEqual([{ kind: 'connected' }, { kind: 'deleted', key: 'k' }])
  })

  test('reach the other listeners when one of them throws', async () => {
    const store = redisStore({ url: server.url })
    ends.push(() => store.close())
    store.watch(() => {
      throw new Error('a watcher that fails')
    })
    const { kinds } = watched(store)
    await until(() => kinds().includes('connected'))
    await store.invalidate('k', 'delete', 0)
    await until(() => kinds().includes('deleted'))
    expect(kinds()).toEqual(['connected', 'deleted'])
  })

  test('tell a later listener that the store is connected', async () => {
    const store = redisStore({ url: server.url })
    ends.push(() => store.close())
    const first = watched(store)
    await until(() => first.kinds().includes('connected'))
    const second = watched(store)
    await until(() => second.kinds().includes('connected'))
    expect(first.kinds()).toEqual(['connected'])
  })
})
