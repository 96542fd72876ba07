import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText } from '../../../test/support/properties.ts'
import { escapeKey, RedisKeys, unescapeKey } from '../src/redis-keys.ts'

/** Any JavaScript string: half surrogate pairs, NUL and escapes of our own included. */
const anyString = fc.oneof(
  anyText(),
  fc.string({
    unit: fc.constantFrom('%', '{', '}', '2', '5', '0', 'B', 'u', 'D', '8', '\uD83D', '\uDC04', '\0', ' ', ':'),
  }),
)

describe('the name of a key in Redis', () => {
  test('turns back into the key, whatever the key is', () => {
    fc.assert(fc.property(anyString, (key) => unescapeKey(escapeKey(key)) === key))
  })

  test('differs in bytes from that of every other key', () => {
    const bytes = (key: string): string => Buffer.from(escapeKey(key), 'utf8').toString('hex')
    fc.assert(fc.property(anyString, anyString, (one, other) => one === other || bytes(one) !== bytes(other)))
  })

  test('is unchanged by UTF-8 encoding', () => {
    fc.assert(fc.property(anyString, (key) => Buffer.from(escapeKey(key), 'utf8').toString('utf8') === escapeKey(key)))
  })

  test('leaves ordinary keys readable', () => {
    expect(new RedisKeys('shop').entry('GET http://shop.example/é?a=1 🐄')).toBe(
      'shop:{GET http://shop.example/é?a=1 🐄}',
    )
  })

  test('has a hash tag that is the whole escaped key, so that its keys lie in one slot', () => {
    const hashTag = (name: string): string | undefined => /\{([^}]*)\}/.exec(name)?.[1]
    fc.assert(
      fc.property(anyString, (key) => {
        const names = new RedisKeys('ns')
        const tag = escapeKey(key)
        expect(tag).not.toBe('')
        for (const name of [names.entry(key), names.lease(key), names.temporary(key, 'token')])
          expect(hashTag(name)).toBe(tag)
      }),
    )
  })

  test('leads back to the key, and no other name of the store does', () => {
    const names = new RedisKeys('ns')
    fc.assert(
      fc.property(anyString, (key) => {
        expect(names.keyOf(names.entry(key))).toBe(key)
        for (const other of [names.lease(key), names.temporary(key, 'token'), names.tag(key)])
          expect(names.keyOf(other)).toBeUndefined()
        expect(names.keyOf(new RedisKeys('other').entry(key))).toBeUndefined()
      }),
    )
    for (const other of [names.tagSequence, names.refreshRate, names.runningRefreshes])
      expect(names.keyOf(other)).toBeUndefined()
  })

  test('is never the name of the tags', () => {
    fc.assert(
      fc.property(anyString, (key) => !new RedisKeys('ns').entry(key).startsWith(new RedisKeys('ns').tagSequence)),
    )
    expect(new RedisKeys('ns').entry('tags')).not.toBe(new RedisKeys('ns').tagSequence)
  })

  test.each(['', '%', '%2', '%zz', '%41', '%7b', '{', 'a}', 'a%00', '%uD83D%uDC04', '%u0041', '\uD83D'])(
    'is not %j: no key is called that',
    (text) => {
      expect(unescapeKey(text)).toBeUndefined()
    },
  )

  test('is found by the patterns of its own namespace, and by no other’s', () => {
    const { leases, entries } = new RedisKeys('a*[b]?\\').patterns
    expect([leases, entries]).toEqual([String.raw`a\*\[b\]\?\\:{*}:l`, String.raw`a\*\[b\]\?\\:{*}`])
  })
})
