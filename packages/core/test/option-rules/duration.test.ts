import { describe, expect, it } from '@jest/globals'
import { type ByteSize, createCache, type Duration, duration, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import * as fc from 'fast-check'

/** How long an option's value keeps an entry fresh, as the cache sees it. */
async function milliseconds(ttl: Duration): Promise<number | undefined> {
  const cache = createCache({ runtime: createManualRuntime() })
  await cache.set('k', 'v', { ttl })
  return (await cache.read('k'))?.freshFor
}

describe('a duration', () => {
  it.each([
    ['1ms', 1],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5s', 1500],
    ['0.25m', 15_000],
    ['007s', 7000],
  ] as const)('of %s is %d ms, as an option and as a setting', async (text, ms) => {
    expect(duration(text)).toBe(ms)
    expect(await milliseconds(text)).toBe(ms)
  })

  it.each([1, 250, 30_000])('that is the number %d is as many milliseconds', async (ms) => {
    expect(await milliseconds(ms)).toBe(ms)
  })

  it('with a fraction is rounded down to whole milliseconds', async () => {
    expect([await milliseconds(1.5), await milliseconds('0.0019s')]).toEqual([1, 1])
  })

  it('may be zero', () => {
    expect(['0ms', '0s', '0.0m', '0h', '0d'].map((text) => duration(text))).toEqual([0, 0, 0, 0, 0])
  })

  it('is the product of its number and its unit, whatever the number', () => {
    const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
    fc.assert(
      fc.property(fc.nat({ max: 1e6 }), fc.constantFrom('ms', 's', 'm', 'h', 'd'), (count, unit) => {
        expect(duration(`${count}${unit}`)).toBe(count * units[unit])
      }),
    )
  })
})

describe('a setting that is no duration', () => {
  it.each([
    '',
    ' ',
    '30',
    '30 s',
    ' 30s',
    '30s ',
    '30S',
    '-30s',
    '+30s',
    '.5s',
    '5.s',
    '1e3s',
    '30sec',
    '3w',
    '1y',
    's',
    'NaNs',
    '30s30s',
  ])('is refused by name and value: "%s"', (text) => {
    expect(() => duration(text)).toThrow(`Option 'duration' is '${text}'; accepted: a text such as '250ms', '30s'`)
  })

  it.each([30, undefined, null, {}, ['30s'], 30n, '9'.repeat(400) + 's'])('is refused when it is %p', (value) => {
    expect(() => duration(value as string)).toThrow(
      expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION', option: 'duration', value }),
    )
  })
})

/** The most bytes that a store with this limit keeps in one value. */
async function capacity(maxBytes: ByteSize, guess: number): Promise<number> {
  const cache = createCache({ store: memoryStore({ maxBytes, sizeOf: Number }), ttl: '1m' })
  const fits = (bytes: number): Promise<boolean> =>
    cache.set('k', bytes).then(
      () => true,
      () => false,
    )
  expect(await fits(guess + 1)).toBe(false)
  return (await fits(guess)) ? guess : Number.NaN
}

describe('a size', () => {
  it.each([
    [1, 1],
    [700, 700],
    ['7b', 7],
    ['1kb', 1024],
    ['1.5kb', 1536],
    ['2mb', 2 * 1024 ** 2],
    ['1gb', 1024 ** 3],
  ] as const)('of %s is %d bytes', async (size, bytes) => {
    expect(await capacity(size, bytes)).toBe(bytes)
  })

  it('that is no whole number of bytes is rounded', async () => {
    expect(await capacity('0.0015kb', 2)).toBe(2)
    expect(await capacity(7.5, 8)).toBe(8)
  })
})
