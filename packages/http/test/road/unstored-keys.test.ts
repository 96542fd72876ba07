import { expect, test } from '@jest/globals'
import { UnstoredKeys } from '../../src/road/unstored-keys.ts'

const NOW = 1000
const MINUTE = 60_000

test.each(['no-freshness', 'no-store', 'private', 'no-cache'])(
  'a response that says by %s that its URL is not stored counts for ten minutes',
  (why) => {
    const keys = new UnstoredKeys()
    keys.note('k', why, NOW)
    expect([keys.has('k', NOW + 9 * MINUTE), keys.has('k', NOW + 10 * MINUTE)]).toEqual([true, false])
    expect(keys.has('other', NOW)).toBe(false)
  },
)

test.each(['set-cookie', 'personal', 'status', 'too-large', 'unleased'])(
  'a response that is not stored because of %s says nothing of its URL',
  (why) => {
    const keys = new UnstoredKeys()
    keys.note('k', why, NOW)
    expect(keys.has('k', NOW)).toBe(false)
  },
)

test('a response that is stored ends it', () => {
  const keys = new UnstoredKeys()
  keys.note('k', 'no-store', NOW)
  keys.note('k', undefined, NOW + 1)
  expect(keys.has('k', NOW + 2)).toBe(false)
})
