import { strict as assert } from 'node:assert'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import type { Ending, RefreshRequest } from '@cattlegrid/core/extend'
import { entryOf, found, isFresh, lead, LONG, put, request } from '../../../../test/support/entries.ts'
import { openRedis, type RedisUnderTest } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

/** Longer than anything here lives. */
const STEP = 600_000

let redis: RedisUnderTest
let store: Store

beforeEach(async () => {
  redis = await openRedis()
  store = await redis.open()
})
afterEach(() => redis.stop())

const ENTRY = (): string => `${redis.namespace}:{k}`
const LEASE = (): string => `${ENTRY()}:l`
const RATE = (): string => `${redis.namespace}:{%refreshes}:rate`
const RUNNING = (): string => `${redis.namespace}:{%refreshes}:running`

/**
 * Makes the server see what it sees after its clock was moved by `ms`: each key ends as much earlier as the clock goes forward, and every moment that a value
 * holds is as much further in the past. A key whose end is over is gone.
 */
async function moveClock(ms: number): Promise<void> {
  const { client } = redis
  for (const name of await client.keys(`${redis.namespace}:*`)) {
    const left = await client.pTTL(name)
    if (left > 0) await (left > ms ? client.pExpire(name, left - ms) : client.del(name))
  }
  const moved = (moment: number): string => (moment - ms * 1000).toFixed(0)
  const due = await client.get(RATE())
  if (due !== null) await client.set(RATE(), moved(Number(due)), { expiration: 'KEEPTTL' })
  for (const { value, score } of await client.zRangeWithScores(RUNNING(), 0, -1))
    await client.zAdd(RUNNING(), { value, score: Number(moved(score)) })
  const version = await client.getRange(ENTRY(), 24, 39)
  if (version !== null && /^\d{16}$/.test(version)) await client.setRange(ENTRY(), 24, moved(Number(version)))
  const held = await client.get(LEASE())
  if (held?.startsWith('L') === true) await client.setRange(LEASE(), 28, moved(Number(held.slice(28, 44))))
}

async function end(ending: Ending): Promise<void> {
  assert.equal((await store.release(await lead(store, 'k'), ending)).kind, 'released')
}

const failed: Ending = { kind: 'failed', failure: { name: 'Error' }, cooldown: 200, attempts: 3 }
const asked = async (): Promise<string> => (await store.acquire('k', request)).kind
const refresh = (token: string, limits: Partial<RefreshRequest>): RefreshRequest => ({
  token,
  perSecond: undefined,
  atOnce: undefined,
  holdFor: 30_000,
  ...limits,
})
const permit = async (token: string, limits: Partial<RefreshRequest>): Promise<string> =>
  (await store.permitRefresh(refresh(token, limits))).kind

/** What stands at a lease's key, how long it may live, and what an acquire finds there. */
const states = [
  ['a lease', () => lead(store, 'k'), 'held'],
  [
    'a lease that was renewed for longer',
    () => lead(store, 'k', { duration: 1000 }).then((lease) => store.renew(lease, LONG)),
    'held',
  ],
  ['a cooldown', () => end({ ...failed, cooldown: LONG }), 'cooling'],
  ['an uncacheable mark', () => end({ kind: 'uncacheable', for: LONG, share: false }), 'uncacheable'],
  ['a hold-off', () => store.invalidate('k', 'delete', LONG), 'held-off'],
] as const

describe.each(states)('%s', (_, begin, answer) => {
  test('has ended when the server’s clock was set back by ten minutes', async () => {
    await begin()
    expect(await asked()).toBe(answer)
    await moveClock(-STEP)
    expect(await asked()).toBe('lead')
    expect(await redis.client.pTTL(LEASE())).toBeLessThanOrEqual(LONG)
  })

  test('stays when the clock is corrected by less than a second', async () => {
    await begin()
    await moveClock(-900)
    expect(await asked()).toBe(answer)
  })

  test('has ended when the clock was set forward', async () => {
    await begin()
    await moveClock(STEP)
    expect(await asked()).toBe('lead')
  })
})

describe('a server’s clock that was set back', () => {
  test('keeps the number of failures of a cooldown', async () => {
    await end(failed)
    await moveClock(-STEP)
    expect((await lead(store, 'k')).attempts).toBe(3)
  })

  test('does not make an invalidation keep a hold-off that has ended', async () => {
    await store.invalidate('k', 'delete', LONG)
    await moveClock(-STEP)
    await store.invalidate('k', 'delete', 0)
    expect(await asked()).toBe('lead')
  })

  test('ends no lease whose holder renews it', async () => {
    const lease = await lead(store, 'k')
    await moveClock(-STEP)
    expect((await store.renew(lease, LONG)).kind).toBe('renewed')
    expect(await asked()).toBe('held')
    expect((await store.commit(lease, entryOf(1), json)).kind).toBe('stored')
  })

  test('delays the permits of a rate by one of its intervals', async () => {
    expect(await permit('one', { perSecond: 5 })).toBe('granted')
    await moveClock(-STEP)
    await until(async () => (await permit('two', { perSecond: 5 })) === 'granted')
  })

  test('ends permits that nobody gave back, and no others', async () => {
    expect(await permit('one', { atOnce: 1 })).toBe('granted')
    await moveClock(-STEP)
    expect(await permit('two', { atOnce: 1 })).toBe('granted')
    expect(await permit('three', { atOnce: 1, holdFor: 10 })).toBe('exhausted')
    await store.endRefresh(refresh('two', { atOnce: 1 }), false)
    expect(await permit('four', { atOnce: 1 })).toBe('granted')
  })

  test('leaves an entry of a moment ago fresh, and no longer than for its ttl', async () => {
    await put(store, 'k', 'value', { ttl: LONG, staleWhileRevalidate: 500 })
    const { committedAt } = await found(store, 'k')
    await moveClock(-STEP)
    const entry = await found(store, 'k')
    expect([entry.value, await isFresh(store, 'k')]).toEqual(['value', true])
    expect(entry.committedAt).toBeGreaterThanOrEqual(committedAt)
    expect(entry.freshUntil - entry.committedAt).toBe(LONG)
    await until(async () => (await redis.client.pTTL(ENTRY())) <= LONG + 500)
  })

  test('leaves an entry that was expired by hand stale, and for no longer than its window', async () => {
    await put(store, 'k', 'value', { staleWhileRevalidate: LONG })
    await store.invalidate('k', 'expire', 0)
    await moveClock(-STEP)
    expect(await isFresh(store, 'k')).toBe(false)
    await until(async () => (await redis.client.pTTL(ENTRY())) <= LONG)
  })
})

describe('a server’s clock that was set forward', () => {
  test('ends entries, and lets a new one be stored', async () => {
    await put(store, 'k', 'old')
    await moveClock(STEP)
    expect((await store.read('k', json)).kind).toBe('missing')
    expect((await store.commit(await lead(store, 'k'), entryOf('new'), json)).kind).toBe('stored')
  })

  test('makes an entry stale inside its window', async () => {
    await put(store, 'k', 'old', { ttl: STEP / 2, staleIfError: STEP })
    await moveClock(STEP)
    expect([(await found(store, 'k')).value, await isFresh(store, 'k')]).toEqual(['old', false])
  })

  test('lets no more refreshes run at once, and at no higher rate, than before', async () => {
    expect(await permit('one', { atOnce: 1, perSecond: 1 })).toBe('granted')
    await moveClock(STEP)
    expect(await permit('two', { atOnce: 1, perSecond: 1 })).toBe('granted')
    expect(await permit('three', { atOnce: 1, perSecond: 1 })).toBe('exhausted')
  })
})
