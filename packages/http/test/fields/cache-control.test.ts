import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText } from '../../../../test/support/properties.ts'
import { parseCacheControl, parseSeconds, secondsOf } from '../../src/fields/cache-control.ts'

const parse = (...lines: string[]): Record<string, string> => Object.fromEntries(parseCacheControl(lines))

describe('parseCacheControl', () => {
  test.each([
    ['no-store', { 'no-store': '' }],
    ['NO-STORE, Max-Age=60', { 'no-store': '', 'max-age': '60' }],
    ['  max-age=60 ,,\t no-cache  ', { 'max-age': '60', 'no-cache': '' }],
    ['max-age="60"', { 'max-age': '60' }],
    ['private="set-cookie, x", max-age=1', { private: 'set-cookie, x', 'max-age': '1' }],
    [String.raw`ext="a\"b, no-store", max-age=1`, { ext: 'a"b, no-store', 'max-age': '1' }],
    ['max-age=1, max-age=2', { 'max-age': '1' }],
    ['', {}],
    [',,,', {}],
    ['=1', { 1: '' }],
    ['private; x', { 'private; x': '', private: '', x: '' }],
    ['max-age=60; private', { 'max-age': '60; private', 60: '', private: '' }],
    ['no-store max-age=5', { 'no-store max-age': '5', 'no-store': '', 'max-age': '', 5: '' }],
    ['__proto__=1, constructor', { ['__proto__']: '1', constructor: '' }],
  ])('reads %j', (line, expected) => {
    expect(parse(line)).toEqual(expected)
  })

  test('several lines are one list', () => {
    expect(parse('max-age=60', 'No-Store')).toEqual({ 'max-age': '60', 'no-store': '' })
  })

  test('a quote that nobody closes hides no directive behind it', () => {
    expect(parse('max-age="60, no-store')).toHaveProperty('no-store')
    expect(parse('private="a", x="b, no-cache')).toMatchObject({ private: 'a', 'no-cache': '' })
  })

  test('never throws, and every name is lower-case and not empty', () => {
    const lines = fc.array(fc.oneof(anyText(), fc.stringMatching(/^[a-z=", \\-]*$/)))
    fc.assert(
      fc.property(lines, (field) => {
        for (const [name, argument] of parseCacheControl(field)) {
          expect(name).toBe(name.trim().toLowerCase())
          expect(name).not.toBe('')
          expect(typeof argument).toBe('string')
        }
      }),
    )
  })

  test('finds a prohibition wherever it stands in a list of well-formed members', () => {
    const member = fc.constantFrom('max-age=60', 'private="a, b"', 'x="\\""', 'public', '', 's-maxage="1"')
    fc.assert(
      fc.property(fc.array(member), fc.array(member), (before, after) => {
        expect(parseCacheControl([[...before, 'nO-sToRe', ...after].join(', ')]).has('no-store')).toBe(true)
      }),
    )
  })
})

describe('seconds', () => {
  test.each([
    ['0', 0],
    ['60', 60],
    ['0060', 60],
    ['2147483648', 2 ** 31],
    ['99999999999999999999', 2 ** 31],
  ])('%j are %d', (text, seconds) => {
    expect(parseSeconds(text)).toBe(seconds)
  })

  test.each(['', '-1', '60a', '60.5', '1e3', ' 60', '0x10', '+1', '６'])('%j is no number of seconds', (text) => {
    expect(parseSeconds(text)).toBeUndefined()
  })

  test('an argument that is no number counts as 0, an absent directive as nothing', () => {
    const directives = parseCacheControl(['max-age=soon, s-maxage'])
    expect([secondsOf(directives, 'max-age'), secondsOf(directives, 's-maxage')]).toEqual([0, 0])
    expect(secondsOf(directives, 'stale-if-error')).toBeUndefined()
  })
})
