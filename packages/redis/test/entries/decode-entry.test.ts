import { json } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { decodeEntry, expiryOf } from '../../src/entries/decode-entry.ts'
import type { RecordHead } from '../../src/entries/record.ts'

/** Fresh for 600 ms, then stale for 400 ms. */
const head: RecordHead = {
  keepFor: 1000,
  staleFor: 400,
  staleWhileRevalidate: 400,
  staleIfError: 0,
  loadTime: 5,
  version: '1'.repeat(16),
  expired: false,
  tagSeq: 0,
  tags: [],
  codecId: json.id,
  bodyStart: 0,
}
const NOW = 10_000

describe('the expiry of an entry, by the time that is left of its record', () => {
  test.each([
    ['a new one', 1000, 600],
    ['one in its last fresh moment', 401, 1],
    ['a stale one', 100, -300],
    ['one whose last millisecond runs', 0, -400],
  ])('%s', (_case, left, freshFor) => {
    expect(expiryOf(head, left, NOW)).toEqual({ committedAt: NOW - (1000 - left), freshUntil: NOW + freshFor })
  })

  test('a record without an end is stale from now on, because the library never wrote that', () => {
    expect(expiryOf(head, -1, NOW)).toEqual({ committedAt: NOW - 600, freshUntil: NOW })
  })

  test('a record that would live longer than it was written for has all of its windows left: the server’s clock was set back', () => {
    for (const left of [1001, 601_000])
      expect(expiryOf(head, left, NOW)).toEqual({ committedAt: NOW, freshUntil: NOW + 600 })
  })

  test('an entry that was expired by hand is not fresh, and no less stale than before', () => {
    const expired = { ...head, expired: true }
    expect(expiryOf(expired, 900, NOW).freshUntil).toBe(NOW)
    expect(expiryOf(expired, 100, NOW).freshUntil).toBe(NOW - 300)
  })
})

test('an entry of another codec is a miss that says so, and the cause names both codecs', () => {
  const read = decodeEntry(
    Buffer.from('"a"'),
    { head: { ...head, codecId: 99 }, committedAt: 0, freshUntil: NOW },
    json,
  )
  expect(read).toMatchObject({ kind: 'missing', because: { why: 'other-codec' } })
  const cause = read.kind === 'missing' ? read.because?.cause : undefined
  expect(String(cause)).toContain(`codec 99, this one is codec ${json.id}`)
})
