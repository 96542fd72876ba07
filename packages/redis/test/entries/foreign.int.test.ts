import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createCache, json, raw, type Store, structured } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { RESP_TYPES } from 'redis'
import { until } from '../../../../test/support/until.ts'
import { entryOf, found, lead, LONG, put, request } from '../../../../test/support/entries.ts'
import { type Client, openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'
import { tap } from '../support/tap.ts'

let redis: RedisUnderTest
let client: Client
let store: Store
let entryKey: string
let leaseKey: string

beforeEach(async () => {
  redis = await openRedis()
  client = redis.client
  store = await redis.open()
  entryKey = `${redis.namespace}:{k}`
  leaseKey = `${entryKey}:l`
})
afterEach(() => redis.stop())

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

const foreignStrings: readonly (readonly [string, Buffer])[] = [
  ['an empty string', Buffer.alloc(0)],
  ['a short text', Buffer.from('hello')],
  ['half a head', Buffer.from('a value of another library, 39 bytes, ok')],
  ['a long text', Buffer.from('x'.repeat(5000))],
  ['bytes that are no UTF-8', Buffer.from(Array.from({ length: 256 }, (_, index) => 250 - index))],
  ['a record of a later format', bytes([0xc5, 2], 'x'.repeat(200))],
  ['the first two bytes of a record', bytes([0xc5, 1])],
  ['a head whose tags are cut off', bytes([0xc5, 1], '\0'.repeat(50), '\0\xFF\xFF')],
]

test('a set at the entry’s key is told once, with the namespace, and delete heals it', async () => {
  await client.sAdd(entryKey, 'member')
  const warnings: Notice[] = []
  store.watch((notice) => void (notice.kind === 'warning' && warnings.push(notice)))
  const cache = createCache({ store, ttl: '1h' })
  for (let turn = 0; turn < 2; turn += 1) expect(await cache.getOrSet('k', () => 'ours')).toBe('ours')
  expect(warnings).toEqual([{ kind: 'warning', message: expect.stringContaining(`(now ${redis.namespace}:*)`) }])
  await cache.delete('k')
  await until(async () => {
    await cache.getOrSet('k', () => 'again')
    return (await store.read('k', json)).kind === 'found'
  })
  await cache.close()
})

describe('a string at the entry’s key that is no record', () => {
  test.each(foreignStrings)('%s is a miss that says why, and can be replaced', async (_, value) => {
    await client.set(entryKey, value)
    const read = await store.read('k', json)
    const isLater = value[0] === 0xc5 && value[1] === 2
    expect(read).toMatchObject({ kind: 'missing', because: { why: isLater ? 'other-format' : 'foreign' } })
    const seen = read.kind === 'missing' ? read.version : 'none'
    expect(Buffer.from(seen, 'latin1')).toEqual(value.subarray(24, 40))
    const lease = await lead(store, 'k', { seen })
    expect((await store.commit(lease, entryOf('ours'), json)).kind).toBe('stored')
    expect((await found(store, 'k')).value).toBe('ours')
  })

  test.each(foreignStrings.filter(([, value]) => value.length > 1 && value[0] !== 0xc5))(
    '%s is left as it is by expire',
    async (_, value) => {
      await client.set(entryKey, value)
      expect(await store.invalidate('k', 'expire', 0)).toEqual({ kind: 'done' })
      expect(await client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get(entryKey)).toEqual(value)
      expect(await client.ttl(entryKey)).toBe(-1)
    },
  )
})

const otherTypes: readonly (readonly [string, (key: string) => Promise<unknown>])[] = [
  ['a hash', (key) => client.hSet(key, 'field', 'value')],
  ['a list', (key) => client.rPush(key, ['value'])],
  ['a set', (key) => client.sAdd(key, 'value')],
]

describe.each(otherTypes)('%s at the entry’s key', (_, make) => {
  test('is a miss with a reason, prevents the lease and is not overwritten', async () => {
    await make(entryKey)
    const type = await client.type(entryKey)
    expect(await store.read('k', json)).toMatchObject({ kind: 'missing', version: '', because: { why: 'foreign' } })
    expect(await store.acquire('k', request)).toMatchObject({ kind: 'away', why: 'error' })
    expect(await store.put('k', entryOf(1), json)).toMatchObject({ kind: 'away', why: 'error' })
    expect(await store.invalidate('k', 'expire', 0)).toEqual({ kind: 'done' })
    expect(await client.type(entryKey)).toBe(type)
  })

  test('is removed by delete, and then the key works', async () => {
    await make(entryKey)
    expect(await store.invalidate('k', 'delete', 0)).toEqual({ kind: 'done' })
    await put(store, 'k', 1)
    expect((await found(store, 'k')).value).toBe(1)
  })
})

describe.each(otherTypes)('%s at the lease’s key', (_, make) => {
  test('does not block the key', async () => {
    await make(leaseKey)
    expect((await store.commit(await lead(store, 'k'), entryOf(1), json)).kind).toBe('stored')
  })

  test('that took the place of a lease makes its holder lose it', async () => {
    const lease = await lead(store, 'k')
    await client.del(leaseKey)
    await make(leaseKey)
    const lost = { kind: 'refused', why: 'taken' }
    expect(await store.renew(lease, LONG)).toEqual(lost)
    expect(await store.commit(lease, entryOf(1), json)).toEqual(lost)
    expect(await store.release(lease, { kind: 'handover' })).toEqual(lost)
    expect(await store.invalidate('k', 'expire', 0)).toEqual({ kind: 'done' })
    await lead(store, 'k')
  })
})

describe('a string at the lease’s key', () => {
  test.each(['', 'x', 'L', `L${'t'.repeat(22)}-0000`, 'X', 'X99999999', 'U1', 'H'])(
    '%j without a time to live does not block the key',
    async (value) => {
      await client.set(leaseKey, value)
      expect(await store.acquire('k', request)).toMatchObject({ kind: 'lead', lease: { attempts: 0 } })
    },
  )

  test.each(['', 'x', 'L', 'Lock of another library', 'X00000000', 'Xabcdefghijkl', 'U', 'Held by 4711'])(
    '%j with a time to live does not block the key, and is replaced',
    async (value) => {
      await client.set(leaseKey, value, { expiration: { type: 'PX', value: LONG } })
      const lease = await lead(store, 'k')
      expect(await client.get(leaseKey)).not.toBe(value)
      expect((await store.commit(lease, entryOf('ours'), json)).kind).toBe('stored')
    },
  )

  test('is told once for each store, with the cure', async () => {
    const told: string[] = []
    store.watch((notice) => void (notice.kind === 'warning' && told.push(notice.message)))
    for (const key of ['a', 'b']) {
      await client.set(`${redis.namespace}:{${key}}:l`, 'theirs', { expiration: { type: 'PX', value: LONG } })
      await lead(store, key)
    }
    await lead(store, 'c')
    expect(told).toEqual([expect.stringMatching(/\{a\}:l.*a namespace that no other program uses/)])
  })
})

describe('a client that replies with text instead of bytes', () => {
  let textStore: Store
  let asked: string[]
  let dropsOptions: boolean
  let refuses: string

  beforeEach(() => {
    asked = []
    dropsOptions = true
    refuses = 'nothing'
    const textClient = tap(client, (what, forward, args) => {
      asked.push(what)
      if (what === refuses) return Promise.reject(new Error('refused'))
      return dropsOptions ? client.sendCommand([...args]) : forward()
    })
    textStore = redisStore({ client: textClient, namespace: redis.namespace })
  })
  afterEach(() => textStore.close())

  test('makes an entry unreadable, not merely missing, and returns its version', async () => {
    await put(store, 'k', 'ours')
    const { version } = await found(store, 'k')
    const cause = expect.objectContaining({ message: expect.stringMatching(/replied with a string.*bytes/) })
    expect(await textStore.read('k', json)).toEqual({ kind: 'missing', version, because: { why: 'foreign', cause } })
    expect(await textStore.read('absent', json)).toEqual({ kind: 'missing', version: '' })
  })

  test('makes an entry unreadable whose expiry is remembered', async () => {
    await put(store, 'k', 'ours')
    dropsOptions = false
    await found(textStore, 'k')
    dropsOptions = true
    expect(await textStore.read('k', json)).toMatchObject({ kind: 'missing', because: { why: 'foreign' } })
    expect(asked.join(' ')).toBe('pttl get get pttl get getrange')
  })

  test('is away when the version cannot be read', async () => {
    await put(store, 'k', 'ours')
    refuses = 'getrange'
    expect(await textStore.read('k', json)).toMatchObject({ kind: 'away', why: 'error' })
  })

  test('blocks no caller: every call loads, and an event says why', async () => {
    const cache = createCache({ store: textStore, ttl: '1m', storeTimeout: '20s' })
    const unreadable: string[] = []
    cache.on('unreadable', ({ key, why }) => void unreadable.push(`${key} ${why}`))
    for (const value of ['first', 'second', 'third'])
      expect(await cache.lookup('k', () => value)).toMatchObject({ value, outcome: { kind: 'committed' } })
    expect([unreadable, (await found(store, 'k')).value]).toEqual([['k foreign', 'k foreign'], 'third'])
    await cache.close()
  })
})

describe('an entry of another codec', () => {
  test('is a miss that says why, although its bytes would decode, and can be replaced', async () => {
    const other = { id: 99, encode: (value: unknown) => json.encode(value), decode: () => 'decoded' }
    expect((await store.put('k', entryOf({ price: 3 }), other)).kind).toBe('stored')
    const read = await store.read('k', json)
    expect(read).toMatchObject({ kind: 'missing', because: { why: 'other-codec' } })
    const lease = await lead(store, 'k', { seen: read.kind === 'missing' ? read.version : '' })
    expect((await store.commit(lease, entryOf(1), json)).kind).toBe('stored')
  })

  test('is told once, with the cure: the processes of two codecs load a key that they share again and again', async () => {
    const [plain, structuredCache] = await Promise.all(
      [json, structured].map(async (codec) => createCache({ store: await redis.open(), codec, ttl: '1h' })),
    )
    const told: string[] = []
    const seen: string[] = []
    for (const cache of [plain, structuredCache]) {
      cache?.on('warning', ({ message }) => void told.push(message))
      cache?.on('unreadable', ({ why }) => void seen.push(why))
    }
    for (let turn = 0; turn < 3; turn += 1)
      for (const cache of [plain, structuredCache])
        expect((await cache?.lookup('k', () => turn))?.status).toBe('loaded')
    await Promise.all([plain?.close(), structuredCache?.close()])
    expect(new Set(seen)).toEqual(new Set(['other-codec']))
    expect(told).toHaveLength(2)
    expect(new Set(told)).toEqual(new Set([expect.stringContaining('give each codec a namespace of its own')]))
  })

  test('whose bytes do not decode is a miss that says why', async () => {
    const broken = {
      id: 77,
      encode: () => Buffer.from('{'),
      decode: (body: Buffer) => JSON.parse(body.toString()) as unknown,
    }
    expect((await store.put('k', entryOf(1), broken)).kind).toBe('stored')
    expect(await store.read('k', broken)).toMatchObject({ kind: 'missing', because: { why: 'undecodable' } })
    expect((await store.inspect('k')).kind).toBe('found')
  })

  test('of bytes is read back byte for byte', async () => {
    const value = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256))
    expect((await store.put('k', entryOf(value), raw)).kind).toBe('stored')
    const read = await store.read('k', raw)
    expect(read.kind === 'found' && value.equals(read.entry.value as Buffer)).toBe(true)
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['returns text', () => 'text' as unknown as Uint8Array],
    ['returns nothing', () => undefined as unknown as Uint8Array],
  ])('that %s when it encodes leaves the lease to its holder', async (_, encode) => {
    const codec = { id: 99, encode, decode: () => undefined }
    const lease = await lead(store, 'k')
    expect(await store.commit(lease, entryOf(1), codec)).toMatchObject({ kind: 'unkeepable', why: 'encode-failed' })
    expect(await store.put('k2', entryOf(1), codec)).toMatchObject({ kind: 'unkeepable', why: 'encode-failed' })
    expect((await store.release(lease, { kind: 'handover' })).kind).toBe('released')
  })
})
