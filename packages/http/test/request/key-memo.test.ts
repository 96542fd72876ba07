import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { cases } from '../../../../test/support/properties.ts'
import { KeyMemo } from '../../src/request/key-memo.ts'
import { type KeyParts, requestKey } from '../../src/request/request-key.ts'

const BASE: KeyParts = { scheme: 'http', host: 'shop.example', target: '/a', place: '', decodesPath: true }

/** Few values, so that parts of two requests are often the same, and often look like the border between two. */
const word = fc.constantFrom('', '/', '/a', '/A/', '1', '1:/', '-;', '|', '=', 'http', 'm1:/', 'a', '2:/a')
const parts: fc.Arbitrary<KeyParts> = fc.record({
  scheme: fc.constantFrom('http', 'https'),
  host: word,
  target: word,
  routed: fc.option(word, { nil: undefined }),
  place: word,
  decodesPath: fc.boolean(),
  matched: fc.option(
    fc.record({
      pattern: fc.constantFrom('/', '/:a', '/:a/:b'),
      base: word,
    }),
    { nil: undefined },
  ),
  extra: fc.option(fc.array(fc.option(word, { nil: undefined }), { maxLength: 3 }), { nil: undefined }),
})

describe('the memo of keys', () => {
  test('gives every request the key that it would have without a memo, whatever came before', () => {
    const memo = new KeyMemo()
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 30 }), (requests) => {
        for (const one of requests) expect(memo.keyOf(one)).toBe(requestKey(one))
      }),
      { numRuns: cases(500) },
    )
  })

  test.each<[string, Partial<KeyParts>]>([
    ['scheme', { scheme: 'https' }],
    ['host', { host: 'other.example' }],
    ['target', { target: '/b' }],
    ['rewritten target', { routed: '/b' }],
    ['place', { place: '1' }],
    ['encoding of the path, where that counts', { target: '/%61', decodesPath: false }],
    ['value that the route keys on', { extra: ['1'] }],
    ['presence of a value that the route keys on', { extra: [undefined] }],
  ])('distinguishes requests by their %s', (_, change) => {
    const memo = new KeyMemo()
    memo.keyOf({ ...BASE, target: '/%61', decodesPath: true })
    const keys = [memo.keyOf(BASE), memo.keyOf({ ...BASE, ...change }), memo.keyOf(BASE)]
    expect(keys).toEqual([requestKey(BASE), requestKey({ ...BASE, ...change }), requestKey(BASE)])
    expect(keys[1]).not.toBe(keys[0])
  })

  test('is bounded in keys', () => {
    const memo = new KeyMemo()
    for (let index = 0; index < 5000; index += 1) memo.keyOf({ ...BASE, target: `/${index}` })
    expect(memo.size.keys).toBeLessThanOrEqual(2000)
    expect(memo.size.keys).toBeGreaterThanOrEqual(1000)
  })

  test('is bounded in characters, and holds nothing without a key', () => {
    const memo = new KeyMemo()
    for (let index = 0; index < 500; index += 1) memo.keyOf({ ...BASE, target: `/${index}/${'a'.repeat(8000)}` })
    expect(memo.size.characters).toBeLessThanOrEqual(2 * 131_072)
    const empty = new KeyMemo()
    expect(empty.keyOf({ ...BASE, target: `/${'a'.repeat(9000)}` })).toBeUndefined()
    expect(empty.size.keys).toBe(0)
  })

  test('keeps the keys that are used', () => {
    const memo = new KeyMemo()
    for (let index = 0; index < 5000; index += 1) {
      memo.keyOf({ ...BASE, target: `/${index}` })
      memo.keyOf(BASE)
    }
    const before = memo.size
    memo.keyOf(BASE)
    expect(memo.size).toEqual(before)
  })
})
