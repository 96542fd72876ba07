import { describe, expect, test } from '@jest/globals'
import { ExpiryCache, type Expiry } from '../src/expiry-cache.ts'

const life: Expiry = { committedAt: 0, freshUntil: 60_000 }

/** As a reader does: what is believed, undefined where Redis is to be asked again. */
function believed(lives: ExpiryCache, key: string, now: number): Expiry | undefined {
  const known = lives.get(key)
  return known !== undefined && now < known.trustedUntil ? known.expiry : undefined
}

/** The same, and what Redis told then is noted. */
function note(lives: ExpiryCache, key: string, told: Expiry, askedAt: number): void {
  lives.remember(key, lives.get(key), told, askedAt)
}

describe('a remembered expiry', () => {
  test('is trusted for one second, and read again after that', () => {
    const lives = new ExpiryCache()
    note(lives, 'k', life, 100)
    expect([believed(lives, 'k', 1099), believed(lives, 'k', 1100)]).toEqual([life, undefined])
  })

  test('is not trusted for longer than the entry is fresh', () => {
    const lives = new ExpiryCache()
    note(lives, 'k', { ...life, freshUntil: 150 }, 100)
    expect([believed(lives, 'k', 149)?.freshUntil, believed(lives, 'k', 150)]).toEqual([150, undefined])
  })

  test('is not kept for an entry that is not fresh, even when the reader’s clock lags', () => {
    const lives = new ExpiryCache()
    note(lives, 'k', life, 99)
    note(lives, 'k', { ...life, freshUntil: 100 }, 100)
    expect(believed(lives, 'k', 99)).toBeUndefined()
  })

  test('is replaced by a later reply', () => {
    const lives = new ExpiryCache()
    note(lives, 'k', life, 0)
    note(lives, 'k', { ...life, committedAt: 7 }, 0)
    expect([believed(lives, 'k', 0)?.committedAt, lives.size]).toEqual([7, 1])
  })

  test('is forgotten by key, or with all others', () => {
    const lives = new ExpiryCache()
    for (const key of ['a', 'b', 'c']) note(lives, key, life, 0)
    lives.forget('a')
    expect([believed(lives, 'a', 0), believed(lives, 'b', 0)]).toEqual([undefined, life])
    lives.clear()
    expect([believed(lives, 'b', 0), lives.size]).toEqual([undefined, 0])
  })
})

describe('the remembered expiries', () => {
  test('are bounded, however many keys are read', () => {
    const lives = new ExpiryCache(10)
    for (let key = 0; key < 1000; key += 1) note(lives, String(key), life, 0)
    expect(lives.size).toBeLessThanOrEqual(20)
  })

  test('are those of the most recently read keys', () => {
    const lives = new ExpiryCache(10)
    note(lives, 'hot', life, 0)
    for (let key = 0; key < 1000; key += 1) {
      note(lives, String(key), life, 0)
      if (key % 5 === 0) believed(lives, 'hot', 0)
    }
    expect([believed(lives, 'hot', 0), believed(lives, '0', 0)]).toEqual([life, undefined])
  })

  test('are few when many keys are read in turn, so that remembering costs those reads little', () => {
    const lives = new ExpiryCache(1000)
    for (let key = 0; key < 1800; key += 1) note(lives, String(key), life, 0)
    const newcomers = Array.from({ length: 800 }, (_, index) => believed(lives, String(1000 + index), 0))
    expect(newcomers.filter((found) => found !== undefined)).toHaveLength(50)
  })

  test('soon include a key that is read often, however many others are read in between', () => {
    const lives = new ExpiryCache(1000)
    for (let key = 0; key < 2000; key += 1) note(lives, String(key), life, 0)
    let reads = 0
    for (; believed(lives, 'hot', 0) === undefined; reads += 1) {
      note(lives, 'hot', life, 0)
      for (let key = 0; key < 4; key += 1) note(lives, `${reads}/${key}`, life, 0)
    }
    expect(reads).toBeLessThanOrEqual(16)
  })

  test('are updated for a key that changes, also when there are many', () => {
    const lives = new ExpiryCache(10)
    for (let key = 0; key < 15; key += 1) note(lives, String(key), life, 0)
    note(lives, '3', life, 5000)
    expect(believed(lives, '3', 5999)).toEqual(life)
    lives.forget('3')
    note(lives, '3', { ...life, committedAt: 7 }, 5000)
    expect(believed(lives, '3', 5999)?.committedAt).toBe(7)
  })

  test('are forgotten in either half', () => {
    const lives = new ExpiryCache(2)
    for (const key of ['a', 'b', 'c']) note(lives, key, life, 0)
    for (const key of ['a', 'b', 'c']) lives.forget(key)
    expect(['a', 'b', 'c'].map((key) => believed(lives, key, 0))).toEqual([undefined, undefined, undefined])
  })
})
