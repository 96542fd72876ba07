import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { storedCodec } from '../../src/response/recorded-response.ts'
import { selectingValue } from '../../src/fields/selecting-value.ts'
import { mergeVary, VariantCount, variantKey, varyForbids, varyNames } from '../../src/response/vary.ts'

const RECORD = { vary: ['accept-language', 'x-kind'], id: 'one' }

describe('Vary', () => {
  test.each<[string | string[], string[]]>([
    ['Accept', ['accept']],
    [' B , a,,A', ['a', 'b']],
    [
      ['x', 'Y, z'],
      ['x', 'y', 'z'],
    ],
    ['', []],
  ])('%j names %j', (vary, names) => {
    expect(varyNames({ vary })).toEqual(names)
  })

  test('a star anywhere forbids, and so does a field with a value for nearly every client', () => {
    expect(varyForbids(['a', '*'], ['*'])).toBe('vary-star')
    expect(varyForbids(varyNames({ vary: 'X A' }), [])).toBe('vary-star')
    expect(varyForbids(['cookie'], [])).toBe('vary')
    expect(varyForbids(['cookie'], ['cookie'])).toBeUndefined()
    expect(varyForbids(['a', 'b', 'c', 'd', 'e', 'f'], [])).toBeUndefined()
    expect(varyForbids(['a', 'b', 'c', 'd', 'e', 'f', 'g'], [])).toBe('vary')
  })

  test('is forbidden, or can be read again from every store', () => {
    const values = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('a', 'B', ' ', ',', '*', ':', ';', '\t', '\u00A0', '_') }),
    )
    fc.assert(
      fc.property(values, (vary) => {
        const names = varyNames({ vary })
        if (varyForbids(names, []) !== undefined) return
        const record = { vary: names, id: 'one' }
        expect(storedCodec.decode(Buffer.from(storedCodec.encode(record)))).toEqual(record)
      }),
    )
  })

  test('names of layers outside stay, and stored ones are added once', () => {
    expect(mergeVary('Origin', 'Accept-Encoding, origin')).toBe('Origin, Accept-Encoding')
    expect(mergeVary(undefined, 'A')).toBe('A')
    expect(mergeVary('A', undefined)).toBe('A')
    expect(mergeVary(undefined, undefined)).toBeUndefined()
  })
})

describe('the key of a variant', () => {
  test('is another for another value, another record, and an absent field', () => {
    const keys = [
      variantKey('k', RECORD, { 'accept-language': 'de' }),
      variantKey('k', RECORD, { 'accept-language': 'en' }),
      variantKey('k', RECORD, { 'accept-language': '' }),
      variantKey('k', RECORD, {}),
      variantKey('k', { ...RECORD, id: 'two' }, {}),
      variantKey('j', RECORD, {}),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('cannot be forged by a value that looks like the next name', () => {
    const forged = { 'accept-language': 'de6:x-kind1:a' }
    expect(variantKey('k', RECORD, forged)).not.toBe(
      variantKey('k', RECORD, { 'accept-language': 'de', 'x-kind': 'a' }),
    )
  })

  test.each([
    ['accept', 'text/html,\ttext/plain', 'text/html,\ttext/plain'],
    ['accept', 'Text/HTML', 'Text/HTML'],
    ['accept-language', 'DE,en', 'DE,en'],
    ['x-currency', 'EUR\u00A0', 'EUR\u00A0'],
    ['accept-encoding', 'gzip;q=0.5, br', 'br, gzip'],
  ])('%s: %j is %j', (name, value, spelling) => {
    expect(selectingValue(name, { [name]: value })).toBe(spelling)
  })

  test.each(['constructor', '__proto__'])('a field that is called %s is absent where no client sent it', (name) => {
    expect(selectingValue(name, {})).toBeUndefined()
  })
})

test('of more variants than may be, and of more URLs than are counted, the oldest goes', () => {
  const count = new VariantCount(2)
  expect([1, 2, 1, 3].map((variant) => count.add(RECORD, `v${variant}`, 2))).toEqual([
    undefined,
    undefined,
    undefined,
    'v2',
  ])
  for (const id of ['two', 'three', 'four']) count.add({ ...RECORD, id }, 'v', 2)
  expect(count.add(RECORD, 'v4', 1)).toBeUndefined()
})
