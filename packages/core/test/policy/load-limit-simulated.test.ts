import { describe, expect, it } from '@jest/globals'
import { answerTime, goodShare, loadsPerSecond, simulateOverload } from '../support/simulated-overload.ts'

/** `LOAD_LIMIT_SEEDS=5` runs every row with five seeds. */
const SEEDS = Array.from({ length: Number(process.env['LOAD_LIMIT_SEEDS'] ?? 1) }, (_, place) => place + 1)

describe.each(SEEDS)('the limit follows a simulated source, seed %d:', (seed) => {
  it.each([
    [3, 200, 'lognormal'],
    [3, 50, 'slow keys'],
    [30, 200, 'even'],
    [30, 50, 'lognormal'],
    [300, 1000, 'slow keys'],
    [300, 200, 'lognormal'],
  ] as const)('%d at once, knee %d, %s: answers are good from 10 s after the flush', (atOnce, knee, service) => {
    const result = simulateOverload({ seed, atOnce, knee, service, ttl: 12_000, duration: 40_000 })
    expect(goodShare(result, 10)).toBeGreaterThan(95)
  })

  it.each(['fewer workers', 'slower'] as const)('half the capacity (%s): good again within 10 s', (what) => {
    const result = simulateOverload({ seed, ttl: 20_000, duration: 60_000, changes: [{ at: 30_000, what }] })
    expect(goodShare(result, 40)).toBeGreaterThan(95)
  })

  it('double the capacity: used within 30 s', () => {
    const changes = [{ at: 10_000, what: 'faster' }] as const
    const result = simulateOverload({ seed, ttl: undefined, rate: 1_200, duration: 50_000, changes })
    expect(loadsPerSecond(result, 40)).toBeGreaterThan(750)
  })

  it('a source that hangs for 5 s: good again 5 s after its return', () => {
    const changes = [{ at: 20_000, what: 'hang' }] as const
    const result = simulateOverload({ seed, ttl: 12_000, duration: 45_000, changes })
    expect(goodShare(result, 30)).toBeGreaterThan(95)
  })

  it('a client outside the fleet takes half of the source: good again within 10 s', () => {
    const changes = [{ at: 20_000, what: 'other client' }] as const
    const result = simulateOverload({ seed, ttl: 20_000, duration: 42_000, changes })
    expect(goodShare(result, 30, 40)).toBeGreaterThan(90)
  })

  it('a key that fails fast: the others are good', () => {
    const failing = 3
    const result = simulateOverload({ seed, failing, duration: 30_000 })
    // The key has 2.7 % of the calls.
    expect(goodShare(result, 10)).toBeGreaterThan(96)
  })

  it.each([
    [0.1, 1.02],
    [0.5, 1.02],
    [0.9, 1.2],
  ])('a healthy source at %d of its capacity is not throttled', (load, slower) => {
    const calls = { seed, ttl: undefined, knee: 1e6, rate: 500 * load, duration: 40_000 }
    const [limited, free] = [simulateOverload(calls), simulateOverload({ ...calls, limit: 1_000_000 })]
    expect(loadsPerSecond(limited, 10) / loadsPerSecond(free, 10)).toBeGreaterThan(0.98)
    expect(answerTime(limited, 0.99) / answerTime(free, 0.99)).toBeLessThan(slower)
  })
})
