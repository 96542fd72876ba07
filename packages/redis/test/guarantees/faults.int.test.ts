import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createCache, json, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { entryOf, found, lead, LONG, put, request } from '../../../../test/support/entries.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

let server: RedisServer
let client: Client
let store: Store
const ends: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  server = await startRedis({ own: true })
  client = await connect(server.url)
  store = redisStore({ client, namespace: 'shop' })
})
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
  await store.close()
  client.destroy()
  await server.stop()
})

/** The answer of every step. */
async function everyStep(on: Store): Promise<readonly { readonly kind: string }[]> {
  return await Promise.all([
    on.read('k', json),
    on.acquire('k', request),
    on.put('k', entryOf(1), json),
    on.invalidate('k', 'delete', 0),
    on.invalidate('k', 'expire', 5),
    on.invalidateTags(['t'], 'delete'),
    on.clear(),
    on.inspect('k'),
  ])
}

describe('a server that has forgotten the scripts', () => {
  test('receives them again from each of many concurrent calls', async () => {
    await lead(store, 'warm')
    await client.scriptFlush()
    const asked = await Promise.all(Array.from({ length: 200 }, (_, index) => store.acquire(`k${index}`, request)))
    expect(new Set(asked.map(({ kind }) => kind))).toEqual(new Set(['lead']))
    await client.scriptFlush()
    expect(await store.invalidate('k0', 'delete', 0)).toEqual({ kind: 'done' })
  })
})

describe('a server that is gone and comes back', () => {
  test('is away for every step, at once and without a rejection', async () => {
    const lease = await lead(store, 'held')
    await server.kill()
    await until(() => !client.isReady)
    const steps = [
      ...(await everyStep(store)),
      await store.renew(lease, LONG),
      await store.release(lease, { kind: 'handover' }),
    ]
    expect(steps).toEqual(steps.map(() => ({ kind: 'away', why: 'disconnected', cause: expect.any(Error) })))
    expect(await store.commit(lease, entryOf(1), json)).toMatchObject({ kind: 'away' })
  })

  test('executes no command late that was issued while it was gone', async () => {
    await server.kill()
    await until(() => !client.isReady)
    await put(store, 'k', 'late').catch(() => undefined)
    await store.put('k', entryOf('late'), json)
    server = await startRedis({ port: server.port })
    await until(() => client.isReady)
    expect((await store.read('k', json)).kind).toBe('missing')
    expect(await client.dbSize()).toBe(0)
  })

  test('has lost every lease, so that no older load is stored', async () => {
    const lease = await lead(store, 'k')
    await server.kill()
    server = await startRedis({ port: server.port })
    await until(() => client.isReady)
    expect(await store.commit(lease, entryOf('old'), json)).toEqual({ kind: 'refused', why: 'voided' })
    await lead(store, 'k')
  })

  test('sends the listeners disconnected, then connected', async () => {
    const notices: Notice[] = []
    store.watch((notice) => void notices.push(notice))
    const kinds = (): readonly string[] => notices.map(({ kind }) => kind)
    await until(() => kinds().includes('connected'))
    await server.kill()
    await until(() => kinds().includes('disconnected'))
    server = await startRedis({ port: server.port })
    await until(() => kinds().lastIndexOf('connected') > kinds().indexOf('disconnected'))
    expect(kinds()).toEqual(['connected', 'disconnected', 'connected'])
    await until(() => client.isReady)
    await store.invalidate('k', 'delete', 0)
    await until(() => kinds().at(-1) === 'deleted')
  })
})

describe('a server that refuses', () => {
  test('writes for lack of memory is away for loads, and still deletes and expires', async () => {
    await put(store, 'k', 'old', { staleIfError: LONG })
    await put(store, 'k2', 'old', { staleIfError: LONG })
    const lease = await lead(store, 'failing')
    await client.configSet('maxmemory', '1')
    expect((await found(store, 'k')).value).toBe('old')
    expect(await store.acquire('k3', request)).toMatchObject({ kind: 'away', why: 'error' })
    expect(await store.put('k3', entryOf('x'.repeat(5000)), json)).toMatchObject({ kind: 'away', why: 'error' })
    expect(await store.invalidate('k', 'delete', 0)).toEqual({ kind: 'done' })
    expect(await store.invalidate('k2', 'expire', 0)).toEqual({ kind: 'done' })
    const failed = { kind: 'failed', failure: { name: 'Error' }, cooldown: LONG, attempts: 1 } as const
    expect(await store.release(lease, failed)).toEqual({ kind: 'released' })
    await client.configSet('maxmemory', '0')
    expect((await store.read('k', json)).kind).toBe('missing')
    const read = await store.read('k2', json)
    expect(read.kind === 'found' && read.entry.freshUntil > performance.now()).toBe(false)
    await lead(store, 'failing')
  })

  test('writes for lack of memory still notes that a caller waits for a lease, and does not extend the lease', async () => {
    await lead(store, 'k')
    await client.pExpire('shop:{k}:l', 30_000)
    await client.configSet('maxmemory', '1')
    expect(await store.acquire('k', { ...request, wake: true })).toMatchObject({ kind: 'held' })
    const inspected = await store.inspect('k')
    expect(inspected).toMatchObject({ kind: 'found', lease: { awaited: true } })
    expect(inspected.kind === 'found' && (inspected.lease?.remaining ?? 0) <= 30_000).toBe(true)
  })

  test('writes because it is a replica is away for writes and answers reads', async () => {
    await put(store, 'k', 1)
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    expect((await found(store, 'k')).value).toBe(1)
    expect(await store.acquire('k2', request)).toMatchObject({ kind: 'away', why: 'error' })
    expect(await store.invalidate('k', 'delete', 0)).toMatchObject({ kind: 'away', why: 'error' })
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    expect(await store.invalidate('k', 'delete', 0)).toEqual({ kind: 'done' })
  })
})

describe('a clear', () => {
  test('of a server that answers nothing rejects, and does not go on once that answers again', async () => {
    const cache = createCache({
      store: redisStore({ client, namespace: 'shop', watchdog: false }),
      ttl: '1h',
      storeTimeout: '250ms',
    })
    ends.push(() => cache.close())
    await cache.set('k', 'kept')
    server.pause()
    const paused = performance.now()
    const clearing = cache.clear()
    await expect(clearing).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    // Generous: far below the time for which it used to wait, 30 s.
    expect(performance.now() - paused).toBeLessThan(15_000)
    server.resume()
    // The reply to the command that was under way comes before this one.
    await client.ping()
    for (let command = 0; command < 20; command += 1) await client.ping()
    expect(await found(store, 'k')).toMatchObject({ value: 'kept' })
  })
})

describe('a client that its owner has not opened', () => {
  test('is not connected by the store; one warning says what to do, and the store works once the client is open', async () => {
    const late = createClient({ url: server.url })
    late.on('error', () => undefined)
    const closed = redisStore({ client: late, namespace: 'shop' })
    ends.push(() => closed.close().then(() => late.close()))
    const notices: Notice[] = []
    closed.watch((notice) => void notices.push(notice))
    closed.watch(() => undefined)
    expect(new Set((await everyStep(closed)).map(({ kind }) => kind))).toEqual(new Set(['away']))
    const storeNotices: Notice[] = []
    store.watch((notice) => void storeNotices.push(notice))
    await until(() => storeNotices.length > 0)
    expect([late.isOpen, (await client.clientList()).length]).toEqual([false, 2])
    expect(notices).toEqual([{ kind: 'warning', message: expect.stringContaining('client.connect()') }])
    await late.connect()
    await put(closed, 'k', 1)
    await until(() => notices.some(({ kind }) => kind === 'connected'))
    expect(notices.filter(({ kind }) => kind === 'warning')).toHaveLength(1)
  })

  test('but opens in the same tick causes no warning', async () => {
    const prompt = createClient({ url: server.url })
    prompt.on('error', () => undefined)
    const opening = redisStore({ client: prompt, namespace: 'shop' })
    ends.push(() => opening.close().then(() => prompt.close()))
    const notices: Notice[] = []
    opening.watch((notice) => void notices.push(notice))
    await prompt.connect()
    await until(() => notices.length > 0)
    expect(notices).toEqual([{ kind: 'connected' }])
  })

  test('or has closed is away', async () => {
    const gone = await connect(server.url)
    const closed = redisStore({ client: gone, namespace: 'shop' })
    closed.watch(() => undefined)
    await gone.close()
    expect(new Set((await everyStep(closed)).map(({ kind }) => kind))).toEqual(new Set(['away']))
    await closed.close()
  })
})
