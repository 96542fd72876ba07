import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { entryOf, found, lead, LONG, put } from '../../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'
import { tap } from '../support/tap.ts'

let redis: RedisUnderTest
let other: Store
let runtime: ManualRuntime
let store: Store
let sent: string[]

beforeEach(async () => {
  redis = await openRedis()
  other = await redis.open()
  runtime = createManualRuntime()
  sent = []
  const client = tap(redis.client, (what, forward) => {
    sent.push(what)
    return forward()
  })
  store = redisStore({ client, namespace: redis.namespace, runtime })
})
afterEach(async () => {
  await store.close()
  await redis.stop()
})

/** What is found, whether it is fresh by the store's clock, and the commands that were sent for it. */
async function read(): Promise<readonly [value: unknown, fresh: boolean, commands: string]> {
  sent.length = 0
  const { value, freshUntil } = await found(store, 'k')
  return [value, freshUntil > runtime.now(), sent.join(' ')]
}

/** A first read, after which the expiry is remembered. */
async function know(ttl = LONG): Promise<void> {
  await put(other, 'k', 'old', { ttl, staleWhileRevalidate: LONG })
  expect(await read()).toEqual(['old', true, 'pttl get'])
}

describe('an entry whose expiry is remembered', () => {
  test('is read with GET alone, with the age and freshness of the first read', async () => {
    await know()
    sent.length = 0
    const first = await found(store, 'k')
    await runtime.advance(900)
    const second = await found(store, 'k')
    expect([second, sent]).toEqual([first, ['get', 'get']])
  })

  test('and that another process has replaced gets the expiry of the new entry', async () => {
    await know()
    await put(other, 'k', 'new', { ttl: 1, staleWhileRevalidate: LONG })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await read()).toEqual(['new', false, 'get pttl get'])
  })

  test('and that was expired by hand is stale at once', async () => {
    await know()
    await other.invalidate('k', 'expire', 0)
    expect(await read()).toEqual(['old', false, 'get pttl get'])
    expect(await read()).toEqual(['old', false, 'pttl get'])
  })

  test('and that was deleted is missing, without another command', async () => {
    await know()
    await other.invalidate('k', 'delete', 0)
    sent.length = 0
    expect([await store.read('k', json), sent]).toEqual([{ kind: 'missing', version: '' }, ['get']])
  })

  test('and is read again through a client that throws is away, as with one that rejects', async () => {
    const client = tap(redis.client, (what, forward) => {
      if (what === 'pttl' && broken) throw new Error('The client is broken')
      return forward()
    })
    let broken = false
    const wrapped = redisStore({ client, namespace: redis.namespace, runtime })
    await put(other, 'k', 'old', { ttl: LONG })
    await found(wrapped, 'k')
    await put(other, 'k', 'new', { ttl: LONG })
    broken = true
    expect(await wrapped.read('k', json)).toMatchObject({ kind: 'away', why: 'error' })
    await wrapped.close()
  })

  test('and that was replaced by a foreign value is reported as foreign', async () => {
    await know()
    await redis.client.del(`${redis.namespace}:{k}`)
    await redis.client.lPush(`${redis.namespace}:{k}`, 'foreign')
    expect(await store.read('k', json)).toMatchObject({ kind: 'missing', because: { why: 'foreign' } })
  })

  test.each([
    ['shortened', (entry: string) => redis.client.pExpire(entry, LONG - 1000)],
    ['made endless', (entry: string) => redis.client.persist(entry)],
  ])('and whose time to live a person has %s is read with PTTL again within a second', async (_, meddle) => {
    await know()
    await meddle(`${redis.namespace}:{k}`)
    expect(await read()).toEqual(['old', true, 'get'])
    await runtime.advance(1000)
    expect(await read()).toEqual(['old', false, 'pttl get'])
  })

  test('is read with PTTL again as soon as it may be stale', async () => {
    await know(500)
    await runtime.advance(500)
    expect((await read())[2]).toBe('pttl get')
  })

  test('and that this process has committed again is read in one round trip', async () => {
    await know()
    const { version } = await found(store, 'k')
    const lease = await lead(store, 'k', { seen: version })
    expect(await store.commit(lease, entryOf('new'), json)).toMatchObject({ kind: 'stored' })
    expect(await read()).toEqual(['new', true, 'pttl get'])
  })

  test('and that has many tags is read with PTTL every time, so that its long head is not kept', async () => {
    await put(other, 'k', 'old', {
      tags: Array.from({ length: 30 }, (_, index) => `a tag of thirty bytes, no. ${index}`),
    })
    expect(await read()).toEqual(['old', true, 'pttl get'])
    expect(await read()).toEqual(['old', true, 'pttl get'])
  })

  test('is forgotten by a clear', async () => {
    await know()
    await store.clear()
    await put(other, 'k', 'new')
    expect(await read()).toEqual(['new', true, 'pttl get'])
  })
})
