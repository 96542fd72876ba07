import { describe, expect, test } from '@jest/globals'
import { ExpiryCache, type Expiry } from '../../src/entries/expiry-cache.ts'

const expiry: Expiry = { committedAt: 0, freshUntil: 60_000 }

/** The trusted expiry, as a reader gets it; undefined if the reader must send PTTL again. */
function trusted(cache: ExpiryCache, key: string, now: number): Expiry | undefined {
  const known = cache.get(key)
  return known !== undefined && now < known.trustedUntil ? known.expiry : undefined
}

/** Remembers the expiry after a lookup, as a read does. */
function remember(cache: ExpiryCache, key: string, reply: Expiry, askedAt: number): void {
  cache.remember(key, cache.get(key), reply, askedAt)
}

describe('a remembered expiry', () => {
  test('is trusted for one second, and read again after that', () => {
    const cache = new ExpiryCache()
    remember(cache, 'k', expiry, 100)
    expect([trusted(cache, 'k', 1099), trusted(cache, 'k', 1100)]).toEqual([expiry, undefined])
  })

  test('is not trusted for longer than the entry is fresh', () => {
    const cache = new ExpiryCache()
    remember(cache, 'k', { ...expiry, freshUntil: 150 }, 100)
    expect([trusted(cache, 'k', 149)?.freshUntil, trusted(cache, 'k', 150)]).toEqual([150, undefined])
  })

  test('is not kept for an entry that is not fresh, even when the reader’s clock lags', () => {
    const cache = new ExpiryCache()
    remember(cache, 'k', expiry, 99)
    remember(cache, 'k', { ...expiry, freshUntil: 100 }, 100)
    expect(trusted(cache, 'k', 99)).toBeUndefined()
  })

  test('is replaced by a later reply', () => {
    const cache = new ExpiryCache()
    remember(cache, 'k', expiry, 0)
    remember(cache, 'k', { ...expiry, committedAt: 7 }, 0)
    expect([trusted(cache, 'k', 0)?.committedAt, cache.size]).toEqual([7, 1])
  })

  test('is forgotten by key, or with all others', () => {
    const cache = new ExpiryCache()
    for (const key of ['a', 'b', 'c']) remember(cache, key, expiry, 0)
    cache.forget('a')
    expect([trusted(cache, 'a', 0), trusted(cache, 'b', 0)]).toEqual([undefined, expiry])
    cache.clear()
    expect([trusted(cache, 'b', 0), cache.size]).toEqual([undefined, 0])
  })
})

describe('the remembered expiries', () => {
  test('are bounded, however many keys are read', () => {
    const cache = new ExpiryCache(10)
    for (let key = 0; key < 1000; key += 1) remember(cache, String(key), expiry, 0)
    expect(cache.size).toBeLessThanOrEqual(20)
  })

  test('are those of the most recently read keys', () => {
    const cache = new ExpiryCache(10)
    remember(cache, 'hot', expiry, 0)
    for (let key = 0; key < 1000; key += 1) {
      remember(cache, String(key), expiry, 0)
      if (key % 5 === 0) trusted(cache, 'hot', 0)
    }
    expect([trusted(cache, 'hot', 0), trusted(cache, '0', 0)]).toEqual([expiry, undefined])
  })

  test('are few when many keys are read in turn, so that remembering costs those reads little', () => {
    const cache = new ExpiryCache(1000)
    for (let key = 0; key < 1800; key += 1) remember(cache, String(key), expiry, 0)
    const newKeys = Array.from({ length: 800 }, (_, index) => trusted(cache, String(1000 + index), 0))
    expect(newKeys.filter((found) => found !== undefined)).toHaveLength(50)
  })

  test('soon include a key that is read often, however many others are read in between', () => {
    const cache = new ExpiryCache(1000)
    for (let key = 0; key < 2000; key += 1) remember(cache, String(key), expiry, 0)
    let reads = 0
    for (; trusted(cache, 'hot', 0) === undefined; reads += 1) {
      remember(cache, 'hot', expiry, 0)
      for (let key = 0; key < 4; key += 1) remember(cache, `${reads}/${key}`, expiry, 0)
    }
    expect(reads).toBeLessThanOrEqual(16)
  })

  test('are updated for a key that changes, also when there are many', () => {
    const cache = new ExpiryCache(10)
    for (let key = 0; key < 15; key += 1) remember(cache, String(key), expiry, 0)
    remember(cache, '3', expiry, 5000)
    expect(trusted(cache, '3', 5999)).toEqual(expiry)
    cache.forget('3')
    remember(cache, '3', { ...expiry, committedAt: 7 }, 5000)
    expect(trusted(cache, '3', 5999)?.committedAt).toBe(7)
  })

  test('are forgotten by key, whichever half of the LRU holds them', () => {
    const cache = new ExpiryCache(2)
    for (const key of ['a', 'b', 'c']) remember(cache, key, expiry, 0)
    for (const key of ['a', 'b', 'c']) cache.forget(key)
    expect(['a', 'b', 'c'].map((key) => trusted(cache, key, 0))).toEqual([undefined, undefined, undefined])
  })
})
