import { strict as assert } from 'node:assert'
import { json } from '@cattlegrid/core'
import { ask, entryOf, fill, found, lead, missing, onStage, type StoreContract, outcomeOf } from './stage.ts'

const KEYS: readonly string[] = [
  '',
  ' ',
  'plain',
  'plain:l',
  'plain:t:',
  '{',
  '}',
  '{}',
  '{plain}',
  'a{b}c{d}',
  '%',
  '%00',
  '%7B',
  '%257B',
  '\0',
  '\0\0',
  'line\r\nbreak',
  '*?[a-z]\\',
  'tags',
  '%tags',
  '__proto__',
  'constructor',
  '🐄',
  '\uD83D',
  '\uDC04',
  '\uDC04\uD83D',
  '\uFFFD',
  'e\u0301',
  '\u00E9',
  'k'.repeat(8192),
  '{'.repeat(8192),
  `${'k'.repeat(8191)}!`,
]

const VALUES: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['undefined', undefined],
  ['an empty string', ''],
  ['zero', 0],
  ['false', false],
  ['an empty object', {}],
  ['text beyond ASCII', '\0 é 🐄 \u2028'],
  ['2 kB', 'v'.repeat(2048)],
  ['3 kB', 'v'.repeat(3000)],
  ['5 MB', '5'.repeat(5 * 1024 ** 2)],
]

/** Keys and values that a store easily escapes or encodes wrongly. */
export function describeAwkwardData({ factory, describe, test }: StoreContract): void {
  describe('keys', () => {
    test('of every kind have a lease and an entry each', () =>
      onStage(factory, async ({ here, there }) => {
        for (const key of KEYS) {
          const lease = await lead(here, key)
          assert.equal(outcomeOf(await ask(there, key)), 'held')
          assert.equal(outcomeOf(await here.commit(lease, entryOf(key.length), json)), 'stored')
        }
        for (const [index, key] of KEYS.entries()) {
          await there.put(key, entryOf(index), json)
        }
        for (const [index, key] of KEYS.entries())
          assert.equal((await found(here, key)).value, index, JSON.stringify(key))
      }))

    test('of every kind are deleted one by one', () =>
      onStage(factory, async ({ here, there }) => {
        for (const key of KEYS) await here.put(key, entryOf(key), json)
        for (const [index, key] of KEYS.entries()) {
          await there.invalidate(key, 'delete', 0)
          await missing(here, key)
          const next = KEYS[index + 1]
          if (next !== undefined) await found(here, next)
        }
      }))
  })

  describe('values', () => {
    test('of a shared store come with the bytes that they were decoded from', () =>
      onStage(factory, async ({ here, there }) => {
        await fill(here, 'k', { roles: ['reader'] })
        const entry = await found(there, 'k')
        if (!there.shared) return
        assert.ok(entry.encoded !== undefined, 'without `encoded`, callers that join one read share one object')
        assert.deepEqual(json.decode(entry.encoded), entry.value)
      }))

    for (const [what, value] of VALUES)
      test(`${what} comes back from a commit and from a put`, () =>
        onStage(factory, async ({ here, there }) => {
          await fill(here, 'k', value)
          assert.deepEqual((await found(there, 'k')).value, value)
          assert.equal((await here.put('k', entryOf(value), json)).kind, 'stored')
          assert.deepEqual((await found(there, 'k')).value, value)
        }))
  })
}
