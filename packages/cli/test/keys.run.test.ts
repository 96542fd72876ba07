import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { storedKey } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { cattlegrid, type Ran, rowsOf } from './support/cli.ts'
import { type Client, connect, openRedis, type RedisUnderTest } from '../../../test/support/redis-under-test.ts'

const long = `product:${'x'.repeat(2000)}`
const digest = storedKey(long)

let redis: RedisUnderTest
let client: Client
let cache: Cache

beforeEach(async () => {
  redis = await openRedis()
  client = await connect()
  cache = createCache({
    store: redisStore({ client, namespace: redis.namespace }),
    ttl: '1m',
    staleWhileRevalidate: '1m',
  })
  await cache.set(long, 'of a long key')
})
afterEach(async () => {
  await cache.close()
  await client.close()
  await redis.stop()
})

const run = (...args: readonly string[]): Promise<Ran> =>
  cattlegrid([...args, '--namespace', redis.namespace, '--timeout', '20s'])

describe('a key that the library stores as a digest', () => {
  test('is inspected by the key that callers use', async () => {
    const { code, out } = await run('inspect', long)
    expect(code).toBe(0)
    expect(rowsOf(out)).toMatchObject({ key: long, 'stored as': digest, state: 'fresh', value: "'of a long key'" })
    const { out: json } = await run('inspect', '--json', long)
    expect(JSON.parse(json)).toMatchObject({ key: long, storedAs: digest, state: 'fresh' })
  })

  test('is inspected by the digest that watch and events print', async () => {
    const { out } = await run('inspect', digest)
    expect(rowsOf(out)).toMatchObject({ key: digest, state: 'fresh', value: "'of a long key'" })
  })

  test('is deleted where the library would serve it', async () => {
    expect(await run('delete', long)).toEqual({ code: 0, out: `deleted  ${long}\n`, err: '' })
    expect(await cache.get(long)).toBeUndefined()
  })

  test('is expired where the library would serve it', async () => {
    expect((await run('expire', long)).out).toBe(`expired  ${long}\n`)
    expect(await cache.inspect(long)).toMatchObject({ state: 'stale' })
  })

  test('may have a beginning that looks like a digest, and is then a key like any other', async () => {
    const key = '%sha256:short'
    await cache.set(key, 7)
    expect(rowsOf((await run('inspect', key)).out)).toMatchObject({ key, 'stored as': storedKey(key), value: '7' })
  })
})
