import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { expiredVersion } from '@cattlegrid/core/extend'
import { RESP_TYPES } from 'redis'
import { entryOf, found, lead, LONG, put, request } from '../../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'

// A later version of the library. Its records share only the first 40 bytes, which every version understands.

let redis: RedisUnderTest
let store: Store
let entryKey: string

beforeEach(async () => {
  redis = await openRedis()
  store = await redis.open()
  entryKey = `${redis.namespace}:{k}`
})
afterEach(() => redis.stop())

const bytesAt = (key: string): Promise<Buffer | null> =>
  redis.client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get(key)

/** Turns our record into one of the later version, and returns its version of the entry. */
async function fromLater(): Promise<string> {
  await put(store, 'k', 'ours', { staleWhileRevalidate: LONG })
  const bytes = (await bytesAt(entryKey)) ?? Buffer.alloc(0)
  bytes[1] = 2
  await redis.client.set(entryKey, Buffer.concat([bytes.subarray(0, 40), Buffer.from('nobody knows')]), {
    expiration: { type: 'PX', value: 2 * LONG },
  })
  return bytes.toString('latin1', 24, 40)
}

describe('a record of a later version of the library', () => {
  test('is a miss with a reason, and only a caller that has seen it gets the lease', async () => {
    const version = await fromLater()
    expect(await store.read('k', json)).toMatchObject({ kind: 'missing', version, because: { why: 'other-format' } })
    expect((await store.acquire('k', request)).kind).toBe('changed')
    const lease = await lead(store, 'k', { seen: version })
    expect((await bytesAt(entryKey))?.[1]).toBe(2)
    expect((await store.commit(lease, entryOf('ours again'), json)).kind).toBe('stored')
    expect((await found(store, 'k')).value).toBe('ours again')
  })

  test('can be expired by hand, for both versions', async () => {
    const version = await fromLater()
    const lease = await lead(store, 'k', { seen: version })
    expect((await store.invalidate('k', 'expire', 0)).kind).toBe('done')
    const bytes = await bytesAt(entryKey)
    expect(bytes?.toString('latin1', 24)).toBe(`${expiredVersion(version)}nobody knows`)
    // Its stale window is as long as its life: a version that does not know the mark finds it fresh at no time.
    expect(bytes?.subarray(10, 16)).toEqual(bytes?.subarray(4, 10))
    expect(bytes?.[1]).toBe(2)
    expect(await redis.client.pTTL(entryKey)).toBeLessThanOrEqual(LONG)
    expect((await store.commit(lease, entryOf('late'), json)).kind).toBe('refused')
  })

  test('is removed by delete and clear, and superseded by set', async () => {
    const version = await fromLater()
    await put(store, 'k', 'set')
    expect(Number((await found(store, 'k')).version)).toBeGreaterThan(Number(version))
    for (const remove of [() => store.invalidate('k', 'delete', 0), () => store.clear()]) {
      await fromLater()
      await remove()
      expect(await bytesAt(entryKey)).toBeNull()
    }
  })
})

test('an entry that an earlier version expired by hand, with a version of zeros, is never fresh', async () => {
  await put(store, 'k', 'ours', { staleWhileRevalidate: LONG })
  await redis.client.setRange(entryKey, 24, '0'.repeat(16))
  expect((await found(store, 'k')).expired).toBe(true)
})

test('an entry with the longest time to live shows its age', async () => {
  const windows = { ttl: 2 ** 47, staleIfError: 2 ** 32 }
  await put(store, 'k', 1, windows)
  const before = performance.now()
  const { committedAt, freshUntil } = await found(store, 'k')
  expect(before - committedAt).toBeLessThan(20_000)
  expect(freshUntil - before).toBeGreaterThan(2 ** 46)
})
