import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText, cases } from '../../../../test/support/properties.ts'
import {
  decodeHead,
  decodeRecord,
  encodeRecord,
  NO_FENCE,
  startsWithHead,
  type RecordHead,
  type RecordParts,
  versionIn,
} from '../../src/entries/record.ts'

const windowMs = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 2 ** 33, noNaN: true }))
const parts: fc.Arbitrary<RecordParts> = fc.record({
  ttl: fc.double({ min: 0, max: 2 ** 48, noNaN: true }),
  staleWhileRevalidate: windowMs,
  staleIfError: windowMs,
  loadTime: windowMs,
  version: fc.stringMatching(/^\d{16}$/),
  tagSeq: fc.maxSafeNat(),
  tags: fc.array(anyText(), { maxLength: 5 }),
  codecId: fc.integer({ min: 1, max: 255 }),
  body: fc.uint8Array({ maxLength: 300 }),
})

const plain: RecordParts = {
  ttl: 1,
  staleWhileRevalidate: 0,
  staleIfError: 0,
  loadTime: 0,
  version: '0'.repeat(16),
  tagSeq: 0,
  tags: [],
  codecId: 1,
  body: Buffer.alloc(0),
}

const whole = (duration: number): number =>
  duration > 0 ? Math.max(1, Math.min(Math.round(duration), 2 ** 32 - 1)) : 0

describe('a record', () => {
  test('comes back as it was written, its durations as whole milliseconds', () => {
    fc.assert(
      fc.property(parts, (written) => {
        const { bytes, keepFor } = encodeRecord(written)
        const read = decodeRecord(bytes)
        const windows = [whole(written.staleWhileRevalidate), whole(written.staleIfError)]
        const { version, tagSeq, tags, codecId } = written
        expect(read).toEqual({
          version,
          expired: version === NO_FENCE,
          tagSeq,
          tags,
          codecId,
          keepFor,
          staleFor: Math.max(...windows),
          staleWhileRevalidate: windows[0],
          staleIfError: windows[1],
          loadTime: whole(written.loadTime),
          bodyStart: bytes.length - written.body.length,
          body: Buffer.from(written.body),
        })
        expect(startsWithHead(bytes, decodeHead(bytes) as RecordHead)).toBe(true)
        const fresh = Math.max(1, Math.min(Math.round(written.ttl), 2 ** 47))
        expect(keepFor).toBe(Math.min(fresh + Math.max(...windows), 2 ** 47))
      }),
    )
  })

  test('has its first 40 bytes where the scripts read them', () => {
    const windows = { staleWhileRevalidate: 2, staleIfError: 0x01_02_03, loadTime: 4 }
    const { bytes } = encodeRecord({ ...plain, ...windows, version: '1234567890123456' })
    expect(bytes.subarray(0, 40).toString('latin1')).toBe(
      '\xC5\x01\0\0\0\0\0\x01\x02\x04\0\0\0\x01\x02\x03\0\0\0\x04\0\0\0\x021234567890123456',
    )
  })

  test('is not recognised when its head is cut off anywhere', () => {
    const { bytes } = encodeRecord({ ...plain, tags: ['a', 'bc'] })
    for (let length = 0; length < bytes.length; length += 1)
      expect(decodeRecord(bytes.subarray(0, length))).toBeUndefined()
    expect(decodeRecord(bytes)?.tags).toEqual(['a', 'bc'])
  })

  test('is decoded from any bytes without an error', () => {
    const likely = fc.tuple(fc.constantFrom(0xc5, 0), fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 120 }))
    const bytes = likely.map(([magic, format, rest]) => Buffer.from([magic, format, ...rest]))
    fc.assert(
      fc.property(fc.oneof(bytes, fc.uint8Array().map(Buffer.from)), (any) => {
        const record = decodeRecord(any)
        expect(record === undefined || (any[0] === 0xc5 && any[1] === 1 && record.tags.length < 60)).toBe(true)
        expect(versionIn(any)).toBe(any.subarray(24, 40).toString('latin1'))
      }),
      { numRuns: cases(2000) },
    )
  })

  test('starts with the head of its own version, and with no other', () => {
    const { bytes } = encodeRecord({ ...plain, version: '1234567890123456', tags: ['a'], body: Buffer.from('body') })
    const head = decodeHead(bytes) as RecordHead
    expect(startsWithHead(bytes, head)).toBe(true)
    for (let place = 0; place < 16; place += 1) {
      const other = Buffer.from(bytes)
      other.writeUInt8(0x41, 24 + place)
      expect(startsWithHead(other, head)).toBe(false)
    }
    for (let length = 0; length < bytes.length - 4; length += 1)
      expect(startsWithHead(bytes.subarray(0, length), head)).toBe(false)
    for (const place of [0, 1]) {
      const foreign = Buffer.from(bytes)
      foreign.writeUInt8(7, place)
      expect(startsWithHead(foreign, head)).toBe(false)
    }
  })

  test('of a later format is not recognised', () => {
    const { bytes } = encodeRecord(plain)
    bytes[1] = 2
    expect(decodeRecord(bytes)).toBeUndefined()
  })

  test('is refused when its tags do not fit', () => {
    expect(() => encodeRecord({ ...plain, tags: ['x'.repeat(70_000)] })).toThrow(RangeError)
    expect(() => encodeRecord({ ...plain, tags: Array<string>(70_000).fill('x') })).toThrow(RangeError)
  })
})
