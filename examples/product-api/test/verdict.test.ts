import { describe, expect, test } from '@jest/globals'
import { countPeriods } from '../src/demo/loads.ts'
import { findFaults, type Run } from '../src/demo/verdict.ts'

function run(name: string, total: number, periods: number, errors = 0): Run {
  return {
    name,
    processes: 2,
    traffic: { seconds: 10, requests: 1_000, errors, p50: 1, p99: 2, slowest: 3 },
    loads: { total, mostAtOnce: 1, periods },
  }
}

describe('countPeriods', () => {
  test('loads at least one ttl apart were each for an expiry of their own', () => {
    expect(countPeriods([0, 1_000, 2_300, 3_300], 1_000)).toBe(4)
  })

  test('a second load inside the ttl of the first is for the same expiry', () => {
    expect(countPeriods([0, 5, 1_060, 1_061, 2_059], 1_000)).toBe(2)
  })

  test('a steady stream of loads fills one period for each ttl', () => {
    const everyTenMs = Array.from({ length: 1_000 }, (_, index) => index * 10)
    expect(countPeriods(everyTenMs, 1_000)).toBe(10)
  })

  test('no load is no period', () => {
    expect(countPeriods([], 1_000)).toBe(0)
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
    expect(findFaults({ unprotected, guarded: [run('protected', 10, 10)] }, 10)).toEqual([
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
