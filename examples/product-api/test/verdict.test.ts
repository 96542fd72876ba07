import { describe, expect, test } from '@jest/globals'
import { ExpiryCount } from '../src/demo/expiries.ts'
import { findFaults, type Run } from '../src/demo/verdict.ts'

function run(name: string, total: number, expiries: number, errors = 0): Run {
  return {
    name,
    processes: 2,
    traffic: { seconds: 10, requests: 1_000, waited: 0, errors, p99: 2, slowest: 3 },
    loads: { total, mostAtOnce: 1, expiries },
  }
}

/** The expiries that loads at these times served. */
function expiriesOf(beginnings: readonly number[]): number {
  const count = new ExpiryCount(1_000)
  for (const began of beginnings) count.load(began)
  return count.expiries
}

describe('the count of expiries', () => {
  test('loads at least one ttl apart were each for an expiry of their own', () => {
    expect(expiriesOf([0, 1_000, 2_300, 3_300])).toBe(4)
  })

  test('a second load inside the ttl of the first is for the same expiry', () => {
    expect(expiriesOf([0, 5, 1_060, 1_061, 2_059])).toBe(2)
  })

  test('a steady stream of loads fills one expiry for each ttl', () => {
    const everyTenMs = Array.from({ length: 1_000 }, (_, index) => index * 10)
    expect(expiriesOf(everyTenMs)).toBe(10)
  })

  test('no load is no expiry', () => {
    expect(expiriesOf([])).toBe(0)
  })

  test('the load after the entry was ended begins an expiry, and the count of its loads', () => {
    const count = new ExpiryCount(1_000)
    count.load(0)
    count.load(10)
    expect(count).toMatchObject({ expiries: 1, loads: 2 })
    count.entryEnded()
    count.load(20)
    expect(count).toMatchObject({ expiries: 2, loads: 1 })
  })
})

describe('findFaults', () => {
  const unprotected = run('unprotected', 100, 10)

  test('one load per expiry and clearly more without the cache is faultless', () => {
    expect(findFaults({ unprotected, guarded: [run('protected', 11, 11)] }, 10)).toEqual([])
  })

  test('one load too many is a fault', () => {
    expect(findFaults({ unprotected, guarded: [run('protected', 12, 11)] }, 10)).toEqual([
      'protected: 12 loads where 11 were needed',
    ])
  })

  test('a failed request on a protected route is a fault, on the unprotected one it is not', () => {
    const guarded = [run('protected', 11, 11, 1)]
    expect(findFaults({ unprotected: run('unprotected', 100, 10, 7), guarded }, 10)).toEqual([
      'protected: 1 of the requests ended in an error',
    ])
  })

  test('too few expiries prove nothing', () => {
    expect(findFaults({ unprotected, guarded: [run('protected', 9, 9)] }, 10)).toEqual([
      'protected: only 9 expiries, 10 were wanted',
    ])
  })

  test('an unprotected route that hardly asks more shows nothing', () => {
    const faults = findFaults({ unprotected: run('unprotected', 49, 10), guarded: [run('protected', 11, 11)] }, 10)
    expect(faults).toEqual(['load too small to show anything: 4.90 loads per expiry unprotected, 1.00 protected'])
  })

  test('what counts is how often, not how long: a protected run that took longer is not judged by its sum', () => {
    expect(findFaults({ unprotected: run('unprotected', 50, 10), guarded: [run('protected', 30, 30)] }, 10)).toEqual([])
  })

  test('every protected run is judged', () => {
    const guarded = [run('protected', 11, 11), run('+ stale allowed', 13, 11, 2)]
    expect(findFaults({ unprotected, guarded }, 10)).toHaveLength(2)
  })
})
