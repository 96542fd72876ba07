import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { type Codec, json, raw, structured } from '@cattlegrid/core'
import * as fc from 'fast-check'

/** The bytes as a store hands them back: a part of a larger buffer, at any offset. */
function travelled(bytes: Uint8Array, offset = 3): Buffer {
  const wire = Buffer.alloc(bytes.length + offset + 5, 0xff)
  wire.set(bytes, offset)
  return wire.subarray(offset, offset + bytes.length)
}

function roundTrip(codec: Codec, value: unknown, offset?: number): unknown {
  return codec.decode(travelled(codec.encode(value), offset))
}

/** Everything that can be seen of a value. The decoder's classes are not this sandbox's, so equality would look at the wrong thing. */
function seen(value: unknown): string {
  return inspect(value, { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity })
}

const offset = fc.nat({ max: 16 })

describe('json', () => {
  it.each([undefined, null, 0, false, '', 'undefined', 'null', [], {}, [null], { deep: [{ er: null }] }])(
    'decodes %p as it was encoded',
    (value) => {
      expect(roundTrip(json, value)).toEqual(value)
    },
  )

  it('writes what JSON.stringify writes, and nothing for an undefined', () => {
    const value = { name: 'é', at: new Date(0), gone: undefined }
    expect(Buffer.from(json.encode(value)).toString()).toBe('{"name":"é","at":"1970-01-01T00:00:00.000Z"}')
    expect(json.encode(undefined)).toHaveLength(0)
  })

  it('decodes every JSON value as it was encoded', () => {
    const plain = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)
    fc.assert(
      fc.property(plain, offset, (value, at) => {
        expect(roundTrip(json, value, at)).toEqual(value)
      }),
    )
  })

  it('decodes every string as it was encoded, lone surrogates included', () => {
    const codeUnit = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(fc.string({ unit: codeUnit }), (text) => {
        expect(roundTrip(json, text)).toBe(text)
      }),
    )
    expect(roundTrip(json, '\uD800')).toBe('\uD800')
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each([
    ['a function', () => 7],
    ['a symbol', Symbol('seven')],
    ['what calls itself nothing', { toJSON: () => undefined }],
    ['a bigint', 7n],
    ['a bigint inside', { deep: [7n] }],
    ['a cycle', cyclic],
  ])('refuses to encode %s', (_, value) => {
    expect(() => json.encode(value)).toThrow(TypeError)
  })

  it.each(['{', '{"a":1', 'undefined', 'null null'])('refuses to decode bytes that it did not encode: %p', (text) => {
    expect(() => json.decode(Buffer.from(text))).toThrow(/JSON/)
  })
})

describe('structured', () => {
  const shared = { of: 'two' }
  it.each([
    undefined,
    null,
    -0,
    Number.NaN,
    2n ** 80n,
    new Date(86_400_000),
    new Date(Number.NaN),
    new Map<unknown, unknown>([[{ key: 1 }, new Set([1, undefined])]]),
    /cattle(?<grid>)/gi,
    { gone: undefined },
    [undefined, null],
    new Float64Array([1.5, -0, Infinity]),
    { one: shared, two: shared },
  ])('decodes %p as it was encoded', (value) => {
    expect(seen(roundTrip(structured, value))).toBe(seen(value))
  })

  it('keeps cycles, and the identity of an object that occurs twice', () => {
    const value: Record<string, unknown> = { one: shared, two: shared }
    value['self'] = value
    const back = roundTrip(structured, value) as typeof value
    expect(back['self']).toBe(back)
    expect(back['one']).toBe(back['two'])
    expect(back['one']).not.toBe(shared)
  })

  it('decodes everything that can be cloned, from any place in a buffer', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      maxDepth: 3,
    })
    fc.assert(
      fc.property(anything, offset, (value, at) => {
        expect(seen(roundTrip(structured, value, at))).toBe(seen(value))
      }),
    )
  })

  it.each([
    ['a function', () => 7],
    ['a symbol', Symbol('seven')],
    ['a promise', Promise.resolve(7)],
  ])('refuses to encode %s', (_, value) => {
    expect(() => structured.encode(value)).toThrow(/could not be cloned/)
  })

  it.each(['', '{}', '\u00ff', 'plain text'])('refuses to decode bytes that it did not encode: %p', (text) => {
    expect(() => structured.decode(Buffer.from(text, 'latin1'))).toThrow(/deserialize/)
  })
})

describe('raw', () => {
  it('decodes every byte as it was encoded', () => {
    fc.assert(
      fc.property(fc.uint8Array(), offset, (bytes, at) => {
        expect(Buffer.compare(roundTrip(raw as Codec, bytes, at) as Buffer, bytes)).toBe(0)
      }),
    )
  })

  it('encodes to the very bytes, and decodes to a copy whose buffer holds nothing else', () => {
    const bytes = Buffer.from('bytes')
    expect(raw.encode(bytes)).toBe(bytes)
    const decoded = raw.decode(travelled(bytes))
    expect([String(decoded), decoded.buffer.byteLength]).toEqual(['bytes', 5])
  })

  it.each(['text', null, undefined, [1, 2], new ArrayBuffer(2), new Uint16Array(2), new DataView(new ArrayBuffer(2))])(
    'refuses to encode %p and says what it takes',
    (value) => {
      expect(() => raw.encode(value as never)).toThrow(/Buffer or Uint8Array/)
    },
  )
})

it('codecs carry identities that differ, so that none decodes what another wrote', () => {
  const ids = [json, structured, raw].map(({ id }) => id)
  // They stand in stored records: to change one is to make every stored entry unreadable.
  expect(ids).toEqual([1, 2, 3])
})
