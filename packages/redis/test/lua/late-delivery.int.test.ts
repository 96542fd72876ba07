import { strict as assert } from 'node:assert'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Cache, createCache, json, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { type FaultProxy, startFaultProxy } from '../../../../test/support/fault-proxy.ts'
import { entryOf, put } from '../../../../test/support/entries.ts'
import {
  type Client,
  connect,
  openRedis,
  type RedisUnderTest,
  redisUrl,
} from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

// The network swallows a connection, and delivers what it has swallowed when others have done their work.

let redis: RedisUnderTest
let other: Store
let proxy: FaultProxy
let client: Client
let cache: Cache

beforeEach(async () => {
  redis = await openRedis()
  other = await redis.open()
  proxy = await startFaultProxy({ target: { port: Number(new URL(redisUrl()).port) } })
  client = await connect(`redis://127.0.0.1:${proxy.port}`)
  cache = createCache({ store: redisStore({ client, namespace: redis.namespace }), storeTimeout: 100, ttl: '1m' })
  // Loads the scripts, too: a step is then one command.
  await cache.set('warm', 1)
  await cache.getOrSet('warm 2', () => 2)
})
afterEach(async () => {
  await cache.close({ drain: 0 })
  client.destroy()
  await proxy.close()
  await redis.stop()
})

const swallow = (): Promise<void> => proxy.inject({ kind: 'black-hole', direction: 'to-server' })

/** Lets the swallowed connection deliver, and waits until the server has executed all of it. */
async function deliver(): Promise<void> {
  await proxy.heal()
  expect(await client.ping()).toBe('PONG')
}

/** Waits until the server's clock has passed the moment. */
async function serverReaches(moment: number): Promise<void> {
  await until(async () => {
    const [seconds, micros] = (await redis.client.sendCommand(['TIME'])) as unknown as readonly string[]
    return Number(seconds) * 1000 + Number(micros) / 1000 > moment
  })
}

async function serverTime(): Promise<number> {
  const [seconds, micros] = (await redis.client.sendCommand(['TIME'])) as unknown as readonly string[]
  return Number(seconds) * 1000 + Number(micros) / 1000
}

describe('a step that is delivered late', () => {
  test.each([
    ['short', 'X'],
    ['long', 'X'.repeat(10_000)],
  ])('does not bring a rejected set of a %s value back after an acknowledged delete', async (_, value) => {
    await swallow()
    await expect(cache.set('k', value)).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    expect(await other.invalidate('k', 'delete', 0)).toEqual({ kind: 'done' })
    await deliver()
    expect((await other.read('k', json)).kind).toBe('missing')
  })

  test('does not write a rejected set over a later one', async () => {
    await swallow()
    await expect(cache.set('k', 'X')).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    await put(other, 'k', 'Y')
    await deliver()
    const read = await other.read('k', json)
    expect(read.kind === 'found' && read.entry.value).toBe('Y')
  })

  test('leaves no lease that nobody holds', async () => {
    await swallow()
    expect(await cache.getOrSet('k', () => 'alone')).toBe('alone')
    await serverReaches((await serverTime()) + 500)
    await deliver()
    assert.equal(await redis.client.exists(`${redis.namespace}:{k}:l`), 0)
  })
})

describe('a step whose connection answers', () => {
  test('is executed within its latest moment', async () => {
    const store = redisStore({ client, namespace: redis.namespace })
    expect((await store.put('k', entryOf(1), json, undefined, 5000)).kind).toBe('stored')
    expect((await store.acquire('k2', { duration: 5000, seen: '', wake: false, within: 5000 })).kind).toBe('lead')
    await store.close()
  })
})
