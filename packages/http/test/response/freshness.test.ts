import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText } from '../../../../test/support/properties.ts'
import { currentAge, initialAge } from '../../src/response/age.ts'
import { parseCacheControl } from '../../src/fields/cache-control.ts'
import { declaredFreshness, type DeclaredFreshness } from '../../src/response/freshness.ts'
import { formatHttpDate, parseHttpDate } from '../../src/fields/http-date.ts'

const NOW = Date.UTC(2030, 0, 15, 12)
const at = (seconds: number): string => formatHttpDate(NOW + seconds * 1000)

function declared(cacheControl: string, fields: Record<string, string> = {}): DeclaredFreshness {
  return declaredFreshness(fields, { directives: parseCacheControl([cacheControl]), targeted: false }, NOW)
}

describe('HTTP-date', () => {
  const moment = Date.UTC(1994, 10, 6, 8, 49, 37)

  test.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ])('%s is read', (text) => {
    expect(parseHttpDate(text, NOW)).toBe(moment)
  })

  test.each([
    '0',
    '-1',
    '',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49:37 EST',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    '1994-11-06T08:49:37Z',
  ])('%j is none', (text) => {
    expect(parseHttpDate(text, NOW)).toBeUndefined()
  })

  test('a year of two digits lies at most 50 years ahead', () => {
    expect(parseHttpDate('Sunday, 06-Nov-80 08:49:37 GMT', NOW)).toBe(Date.UTC(2080, 10, 6, 8, 49, 37))
    expect(parseHttpDate('Sunday, 06-Nov-81 08:49:37 GMT', NOW)).toBe(Date.UTC(1981, 10, 6, 8, 49, 37))
  })

  test('reads back what it writes, and never throws on anything', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e9 }), (seconds) => {
        expect(parseHttpDate(formatHttpDate(seconds * 1000), NOW)).toBe(seconds * 1000)
      }),
    )
    fc.assert(
      fc.property(anyText(), (text) => {
        expect([undefined, 'number']).toContain(parseHttpDate(text, NOW) === undefined ? undefined : 'number')
      }),
    )
  })
})

describe('declared freshness', () => {
  test('s-maxage comes before max-age, and that before Expires', () => {
    const fields = { date: at(0), expires: at(30) }
    expect(declared('max-age=20, s-maxage=10', fields).lifetime).toBe(10_000)
    expect(declared('max-age=20', fields).lifetime).toBe(20_000)
    expect(declared('', fields).lifetime).toBe(30_000)
    expect(declared('', {}).lifetime).toBeUndefined()
  })

  test('Last-Modified alone declares nothing: a lifetime is never guessed', () => {
    expect(declared('public', { 'last-modified': at(-86_400) }).lifetime).toBeUndefined()
  })

  test.each(['0', '-1', 'soon', at(-1)])('Expires: %s is in the past', (expires) => {
    expect(declared('', { date: at(0), expires }).lifetime).toBe(0)
  })

  test('beside a targeted field Expires does not count', () => {
    const policy = { directives: parseCacheControl(['no-transform']), targeted: true }
    expect(declaredFreshness({ expires: at(60) }, policy, NOW).lifetime).toBeUndefined()
  })

  test('Expires counts from Date, whatever the clock here says', () => {
    expect(declared('', { date: at(-100), expires: at(-40) }).lifetime).toBe(60_000)
  })

  test('a bad max-age is stale, not the next best field', () => {
    expect(declared('max-age=60a', { expires: at(60) }).lifetime).toBe(0)
  })

  test('the stale windows are the answer’s own', () => {
    const freshness = declared('max-age=1, stale-while-revalidate=59, stale-if-error=600')
    expect(freshness).toEqual({ lifetime: 1000, staleWhileRevalidate: 59_000, staleIfError: 600_000 })
    expect(declared('max-age=1')).toEqual({ lifetime: 1000, staleWhileRevalidate: undefined, staleIfError: undefined })
  })

  test.each(['must-revalidate', 'Proxy-Revalidate'])('%s closes both, whatever they say', (directive) => {
    const freshness = declared(`max-age=1, stale-while-revalidate=59, stale-if-error=600, ${directive}`)
    expect(freshness).toMatchObject({ staleWhileRevalidate: 0, staleIfError: 0 })
  })

  test('s-maxage closes a window that it does not name', () => {
    const freshness = declared('s-maxage=1, stale-while-revalidate=59')
    expect(freshness).toMatchObject({ staleWhileRevalidate: 59_000, staleIfError: 0 })
  })
})

describe('age', () => {
  test('is what Age says or what Date shows, whichever is more', () => {
    expect(initialAge({}, NOW)).toBe(0)
    expect(initialAge({ age: '7' }, NOW)).toBe(7)
    expect(initialAge({ date: at(-9) }, NOW)).toBe(9)
    expect(initialAge({ age: '7', date: at(-9) }, NOW)).toBe(9)
    expect(initialAge({ age: '12', date: at(-9) }, NOW)).toBe(12)
    expect(initialAge({ date: at(60) }, NOW)).toBe(0)
  })

  test.each(['-5', 'old', '1.5', ''])('Age: %s is ignored', (age) => {
    expect(initialAge({ age }, NOW)).toBe(0)
  })

  test('of several the first counts', () => {
    expect(initialAge({ age: ['3', '9'] }, NOW)).toBe(3)
    expect(initialAge({ age: '3, 9' }, NOW)).toBe(3)
  })

  test('grows with the time in the store, in whole seconds', () => {
    expect(currentAge(5, 0)).toBe(5)
    expect(currentAge(5, 1999)).toBe(6)
    expect(currentAge(5, -1000)).toBe(5)
  })
})
