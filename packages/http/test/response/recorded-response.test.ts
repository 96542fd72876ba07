import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { type RecordedResponse, storedCodec } from '../../src/response/recorded-response.ts'

const { encode, decode } = storedCodec
const SAMPLE: RecordedResponse = {
  status: 200,
  fields: { date: 'Tue, 15 Jan 2030 12:00:00 GMT', link: ['<a>', '<b>'] },
  removed: ['x-powered-by'],
  body: Buffer.from('grün'),
  initialAge: 3,
}

function rewritten(change: Readonly<Record<string, unknown>>): Buffer {
  const { body, ...head } = SAMPLE
  const text = Buffer.from(JSON.stringify({ ...head, ...change }))
  const prefix = Buffer.from([1, 0, 0, 0, 0])
  prefix.writeUInt32BE(text.length, 1)
  return Buffer.concat([prefix, text, body])
}

describe('the codec of recorded responses', () => {
  test('gives back every response as it was', () => {
    const name = fc.stringMatching(/^[a-z][a-z-]{0,20}$/)
    const line = fc.stringMatching(/^[\t -~\u00A0-\u00FF]{0,40}$/)
    const response = fc.record({
      status: fc.integer({ min: 200, max: 599 }),
      fields: fc.dictionary(name, fc.oneof(line, fc.array(line)), { noNullPrototype: true }),
      removed: fc.array(name),
      body: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      initialAge: fc.nat(),
    })
    fc.assert(
      fc.property(response, (sample) => {
        expect(decode(Buffer.from(encode(sample)))).toEqual(sample)
      }),
    )
  })

  test('gives back a response or an error, and nothing else, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.boolean(), (bytes, formatted) => {
        const input = Buffer.from(formatted ? [1, 0, 0, 0, bytes.length, ...bytes] : bytes)
        expect(() => decode(input)).toThrow(/./)
      }),
    )
  })

  test('refuses a record that was cut off anywhere before its body', () => {
    const whole = Buffer.from(encode(SAMPLE))
    const bodyAt = whole.length - SAMPLE.body.length
    for (let length = 0; length < bodyAt; length += 1) expect(() => decode(whole.subarray(0, length))).toThrow(/./)
  })

  test.each([
    { status: 199 },
    { status: 600 },
    { status: 200.5 },
    { status: '200' },
    { initialAge: -1 },
    { initialAge: null },
    { removed: 'x' },
    { removed: ['b\nc'] },
    { fields: null },
    { fields: [] },
    { fields: { 'x-a': 'b\r\nset-cookie: stolen=1' } },
    { fields: { 'x\na': 'b' } },
    { fields: { 'x-a': 1 } },
    { fields: { 'x-a': ['b', 2] } },
    { fields: { 'X-A': 'b' } },
    { fields: { '': 'b' } },
  ])('refuses a head that could not be served: %j', (change) => {
    expect(() => decode(rewritten(change))).toThrow(TypeError)
    expect(decode(rewritten({}))).toEqual(SAMPLE)
  })

  test('keeps the forms of payloads that it knows, and no other', () => {
    for (const form of ['text', 'null', 'undefined']) expect(decode(rewritten({ form }))).toEqual({ ...SAMPLE, form })
    for (const form of ['stream', null, 1]) expect(decode(rewritten({ form }))).toEqual(SAMPLE)
  })
})
