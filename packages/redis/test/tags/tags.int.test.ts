import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createManualRuntime } from '@cattlegrid/testkit'
import { entryOf, found, lead, hasValidTags, judged, put } from '../../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'
import { tap } from '../support/tap.ts'
import { until } from '../../../../test/support/until.ts'

let redis: RedisUnderTest
let store: Store

beforeEach(async () => {
  redis = await openRedis()
  store = await redis.open()
  // The sequence is there, as it is in a namespace at work: a load asks for it in the write that asks for its lease.
  await store.invalidateTags(['another'], 'delete')
})
afterEach(() => redis.stop())

const tagKey = (tag: string): string => `${redis.namespace}:{%tags}:n:${tag}`

async function fill(tags: readonly string[]): Promise<void> {
  const lease = await lead(store, 'k')
  expect((await store.commit(lease, entryOf('value', { tags }), json)).kind).toBe('stored')
}

describe('a put with tags', () => {
  const puts: readonly (readonly [string, unknown])[] = [
    ['a short', 'value'],
    ['a long', 'x'.repeat(10_000)],
  ]
  test.each(puts)(
    'of %s value is overtaken by no later delete, on a server that does not know its script',
    async (_, value) => {
      await redis.client.scriptFlush()
      await store.invalidate('other', 'delete', 0)
      const putting = store.put('k', entryOf(value, { tags: ['a', 'b'] }), json)
      expect(await store.invalidate('k', 'delete', 0)).toEqual({ kind: 'done' })
      expect((await putting).kind).toBe('stored')
      expect((await store.read('k', json)).kind).toBe('missing')
    },
  )

  test.each(puts)('of %s value is valid until one of its tags is invalidated', async (_, value) => {
    expect((await store.put('k', entryOf(value, { tags: ['a', 'b'] }), json)).kind).toBe('stored')
    expect((await found(store, 'k')).value).toBe(value)
    expect(await hasValidTags(store, 'k')).toBe(true)
    expect(await redis.client.pTTL(tagKey('a'))).toBeGreaterThan(await redis.client.pTTL(`${redis.namespace}:{k}`))
    await store.invalidateTags(['b'], 'delete')
    expect(await hasValidTags(store, 'k')).toBe(false)
    expect((await store.put('k', entryOf(value, { tags: ['b', 'a'] }), json)).kind).toBe('stored')
    expect(await hasValidTags(store, 'k')).toBe(true)
  })

  test('creates a tag sequence that is missing, and replaces numbers that are none', async () => {
    await redis.client.del(`${redis.namespace}:{%tags}`)
    await redis.client.set(tagKey('a'), 'no number')
    expect((await store.put('k', entryOf(1, { tags: ['a'] }), json)).kind).toBe('stored')
    expect(await hasValidTags(store, 'k')).toBe(true)
    expect(await redis.client.get(tagKey('a'))).toBe(await redis.client.get(`${redis.namespace}:{%tags}`))
  })
})

describe('tag numbers that Redis has evicted', () => {
  test('make the entry void: whether the tag was invalidated is unknown', async () => {
    await fill(['a', 'b'])
    await found(store, 'k')
    await redis.client.del(tagKey('b'))
    expect(await hasValidTags(store, 'k')).toBe(false)
  })

  test('do not bring back an entry of an invalidated tag once the tag is used again', async () => {
    await fill(['a'])
    await store.invalidateTags(['a'], 'delete')
    await redis.client.del(tagKey('a'))
    const other = await lead(store, 'other')
    expect((await store.commit(other, entryOf(1, { tags: ['a'] }), json)).kind).toBe('stored')
    expect(await hasValidTags(store, 'k')).toBe(false)
  })

  test('with the whole sequence refuse the commit of a running load', async () => {
    const lease = await lead(store, 'k')
    await redis.client.del(`${redis.namespace}:{%tags}`)
    expect(await store.commit(lease, entryOf(1, { tags: ['a'] }), json)).toEqual({ kind: 'refused', why: 'tag-voided' })
  })

  test('are created again by the next load', async () => {
    await fill(['a'])
    await redis.client.del(tagKey('a'))
    const read = await store.read('k', json)
    const lease = await lead(store, 'k', { seen: read.kind === 'found' ? read.entry.version : '' })
    expect((await store.commit(lease, entryOf('again', { tags: ['a'] }), json)).kind).toBe('stored')
    expect((await found(store, 'k')).value).toBe('again')
  })
})

const garbage: readonly (readonly [string, (key: string) => Promise<unknown>])[] = [
  ['a word', (key) => redis.client.set(key, 'soon')],
  ['nothing but blanks', (key) => redis.client.set(key, ' ')],
  ['an empty string', (key) => redis.client.set(key, '')],
  ['a fraction', (key) => redis.client.set(key, '1.5')],
  ['something below zero', (key) => redis.client.set(key, '-1')],
  ['a number of another base', (key) => redis.client.set(key, '0x10')],
  ['a number too great to increment', (key) => redis.client.set(key, '9'.repeat(16))],
  ['a number without end', (key) => redis.client.set(key, '9'.repeat(400))],
  ['two numbers in the wrong form', (key) => redis.client.set(key, '5  6')],
  ['four numbers', (key) => redis.client.set(key, '5 6 7 8')],
  ['an expiry whose end is no number', (key) => redis.client.set(key, '5 6 x')],
  ['an end that is too great', (key) => redis.client.set(key, '5 6 99999999999999999')],
  ['a number and a word', (key) => redis.client.set(key, '5 soon')],
  ['a number and a blank', (key) => redis.client.set(key, '5 ')],
  ['a number and one that is too great to increment', (key) => redis.client.set(key, `5 ${'9'.repeat(16)}`)],
  ['infinity', (key) => redis.client.set(key, 'inf')],
  ['no number at all', (key) => redis.client.set(key, 'nan')],
  ['a hash', (key) => redis.client.hSet(key, 'field', 'value')],
  ['a list', (key) => redis.client.lPush(key, 'value')],
]

describe('an expired tag', () => {
  const window = { tags: ['a'], staleIfError: 60_000 }
  const stateOf = async (): Promise<string> => {
    const entry = await judged(store, 'k')
    return entry === undefined ? 'gone' : entry.expired ? 'stale' : 'fresh'
  }
  const expire = () => store.invalidateTags(['a'], 'expire')

  test('whose number Redis has evicted makes its entries void, never fresh', async () => {
    await put(store, 'k', 1, window)
    await expire()
    expect(await stateOf()).toBe('stale')
    await redis.client.del(tagKey('a'))
    expect(await stateOf()).toBe('gone')
    await put(store, 'other', 1, { tags: ['a'] })
    expect(await stateOf()).toBe('gone')
  })

  test('that Redis had evicted before leaves its entries void', async () => {
    await put(store, 'k', 1, window)
    await redis.client.del(tagKey('a'))
    await expire()
    expect(await stateOf()).toBe('gone')
  })

  test('keeps its number as long as its entries live', async () => {
    await put(store, 'k', 1, window)
    await expire()
    expect(await redis.client.pTTL(tagKey('a'))).toBeGreaterThan(await redis.client.pTTL(`${redis.namespace}:{k}`))
  })

  test('keeps its entries stale after a later put of another one', async () => {
    await put(store, 'k', 1, window)
    await expire()
    await put(store, 'other', 1, { tags: ['a'] })
    expect(await stateOf()).toBe('stale')
  })

  test('costs a read of its number one command more, and that of another tag none', async () => {
    const sent: string[] = []
    const client = tap(redis.client, (what, forward) => {
      sent.push(what)
      return forward()
    })
    const watched = redisStore({ client, namespace: redis.namespace })
    await put(store, 'k', 1, { tags: ['a', 'b'] })
    await expire()
    await watched.tagNumbers(['b'])
    await watched.tagNumbers(['a', 'b'])
    expect(sent).toEqual(['mget', 'mget', 'time'])
  })

  test('is stale since no later than now, though the server’s clock was set back', async () => {
    await put(store, 'k', 1, window)
    await redis.client.set(tagKey('a'), `1 ${(Date.now() + 3_600_000) * 1000}`)
    const entry = await judged(store, 'k')
    expect(entry?.freshUntil).toBeLessThanOrEqual(performance.now())
    expect(await stateOf()).toBe('stale')
  })
})

describe.each(garbage)('%s', (_, write) => {
  async function replace(key: string): Promise<void> {
    await redis.client.del(key)
    await write(key)
  }

  async function refill(): Promise<void> {
    const read = await store.read('k', json)
    const lease = await lead(store, 'k', { seen: read.kind === 'found' ? read.entry.version : '' })
    expect((await store.commit(lease, entryOf('again', { tags: ['a'] }), json)).kind).toBe('stored')
    expect(await hasValidTags(store, 'k')).toBe(true)
  }

  test('in the place of the tag sequence is replaced by the next load, and tags can be invalidated', async () => {
    await fill(['a'])
    await replace(`${redis.namespace}:{%tags}`)
    await refill()
    await store.invalidateTags(['a'], 'delete')
    expect(await hasValidTags(store, 'k')).toBe(false)
  })

  test('in the place of the tag sequence is replaced by an invalidation', async () => {
    await fill(['a'])
    await replace(`${redis.namespace}:{%tags}`)
    expect(await store.invalidateTags(['a'], 'delete')).toMatchObject({ kind: 'done', tagSeq: expect.any(Number) })
    expect(await hasValidTags(store, 'k')).toBe(false)
    await refill()
  })

  test('in the place of a tag’s number makes its entries void until the next load, which is stored', async () => {
    await fill(['a'])
    await replace(tagKey('a'))
    expect(await hasValidTags(store, 'k')).toBe(false)
    await refill()
    await store.invalidateTags(['a'], 'delete')
    expect(await hasValidTags(store, 'k')).toBe(false)
  })

  test('in the place of a tag’s number does not prevent the tag’s invalidation', async () => {
    await fill(['a'])
    await replace(tagKey('a'))
    expect((await store.invalidateTags(['a'], 'delete')).kind).toBe('done')
    expect(await hasValidTags(store, 'k')).toBe(false)
    await refill()
  })

  test('in the place of a tag’s number keeps its entries void when the tag is expired', async () => {
    await fill(['a'])
    await replace(tagKey('a'))
    expect((await store.invalidateTags(['a'], 'expire')).kind).toBe('done')
    expect(await hasValidTags(store, 'k')).toBe(false)
    await refill()
  })
})

describe('a clock that was set back', () => {
  test('makes no invalidated tag valid, not even when the sequence is lost', async () => {
    const ahead = String((Date.now() + 3_600_000) * 1000)
    await redis.client.set(`${redis.namespace}:{%tags}`, ahead)
    await fill(['a'])
    await redis.client.del(`${redis.namespace}:{%tags}`)
    await store.invalidateTags(['a'], 'delete')
    expect(await hasValidTags(store, 'k')).toBe(false)
  })
})

describe('the slot of the tags, when it is silent', () => {
  const silent = (): Store =>
    redisStore({
      client: tap(redis.client, (what, forward) =>
        what === 'noteTags' || what === 'mget' ? new Promise(() => {}) : forward(),
      ),
      namespace: redis.namespace,
    })

  test('blocks no lease, and does not affect a load that names no tag', async () => {
    const lease = await lead(silent(), 'k')
    expect((await store.commit(lease, entryOf(1), json)).kind).toBe('stored')
  })

  test('is read although its reply arrived while the process was suspended', async () => {
    const timers: (() => void)[] = []
    let answer = (): void => undefined
    const stalled = new Promise<void>((resolve) => (answer = resolve))
    const slow = redisStore({
      client: tap(redis.client, (what, forward) => (what === 'mget' ? stalled.then(forward) : forward())),
      namespace: redis.namespace,
      runtime: {
        ...createManualRuntime(),
        schedule: (action) => {
          timers.push(action)
          return () => undefined
        },
      },
    })
    const leading = lead(slow, 'k')
    await until(() => timers.length === 1)
    timers[0]?.()
    answer()
    expect((await slow.commit(await leading, entryOf(1, { tags: ['a'] }), json)).kind).toBe('stored')
  })

  test('makes a load that names tags fail to commit: whether they were invalidated is unknown', async () => {
    const lease = await lead(silent(), 'k')
    expect(await store.commit(lease, entryOf(1, { tags: ['a'] }), json)).toEqual({ kind: 'refused', why: 'tag-voided' })
  })
})
