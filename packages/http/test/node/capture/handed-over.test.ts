import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { type Handler, record } from '../../support/recorded-server.ts'

const stored = (body: string): object => ({ kind: 'store', response: { body: Buffer.from(body) } })

/** Hands over this payload, and then writes what an outer layer makes of it. */
function handingOver(payload: () => unknown, write: Parameters<typeof writeAs>[0] = {}): Handler {
  return (res, _req, capture) => {
    res.setHeader('x-inner', 'yes')
    writeAs(write)(res, capture.handOver(payload()))
  }
}

interface Written {
  readonly status?: number
  readonly fields?: Readonly<Record<string, string>>
  /** In the place of the payload. */
  readonly body?: string
}

function writeAs({ status = 200, fields = {}, body }: Written) {
  return (res: Parameters<Handler>[0], payload: unknown): void => {
    for (const [name, value] of Object.entries(fields)) res.setHeader(name, value)
    res.statusCode = status
    if (body !== undefined) res.end(body)
    else if (payload instanceof Readable) payload.pipe(res)
    else res.end(payload)
  }
}

const PAYLOADS: readonly (readonly [string, () => unknown])[] = [
  ['a text', () => 'inner'],
  ['bytes', () => Buffer.from('inner')],
  ['a stream', () => Readable.from([Buffer.from('in'), Buffer.from('ner')])],
  ['a web stream', () => new Blob(['inner']).stream()],
]

describe('a response that is handed over to outer layers', () => {
  test.each(PAYLOADS)('as %s is stored without the fields that they add', async (_, payload) => {
    const { recorded, body, headers } = await record(handingOver(payload, { fields: { 'x-outer': 'yes' } }))
    expect([body, headers['x-inner'], headers['x-outer']]).toEqual(['inner', 'yes', 'yes'])
    expect(recorded).toMatchObject(stored('inner'))
    expect(recorded).toMatchObject({ response: { fields: { 'x-inner': 'yes' } } })
    expect(recorded).not.toMatchObject({ response: { fields: { 'x-outer': 'yes' } } })
  })

  test('is stored as it was, where they send another body', async () => {
    const { recorded, body } = await record(handingOver(() => 'inner', { body: 'outer' }))
    expect(body).toBe('outer')
    expect(recorded).toMatchObject(stored('inner'))
  })

  test.each<[string, () => unknown, Written]>([
    ['another status', () => 'inner', { status: 203 }],
    ['another body than a stream', () => new PassThrough(), { body: 'outer' }],
  ])('goes to its own client only, where they send %s', async (_, payload, write) => {
    const { recorded } = await record(handingOver(payload, write))
    expect(recorded).toEqual({ kind: 'unshareable', why: 'hijacked' })
  })

  test('is not stored, where they set a cookie', async () => {
    const { recorded } = await record(handingOver(() => 'inner', { fields: { 'set-cookie': 'a=b' } }))
    expect(recorded).toEqual({ kind: 'unshareable', why: 'set-cookie' })
  })

  test.each(PAYLOADS.slice(0, 3))(
    'as %s is stored, although its client has left and nothing is written',
    async (_, payload) => {
      const handler: Handler = (_res, _req, capture) => void capture.handOver(payload())
      expect((await record(handler, { leaves: true })).recorded).toMatchObject(stored('inner'))
    },
  )

  test('as a stream is stored, although the framework ends the response of a client that has left', async () => {
    const handler: Handler = (res, _req, capture) => {
      capture.handOver(Readable.from([Buffer.from('in'), Buffer.from('ner')]))
      res.end()
    }
    expect((await record(handler, { leaves: true })).recorded).toMatchObject(stored('inner'))
  })

  test('is none where the handler has thrown: an empty end for a client that has left is not recorded', async () => {
    const handler: Handler = (res, _req, capture) => {
      capture.handOver(undefined)
      res.end()
    }
    expect((await record(handler, { leaves: true })).recorded).toEqual({ kind: 'aborted', cause: 'disconnect' })
  })

  test('is none where the handler has thrown: what the framework writes is recorded', async () => {
    const handler: Handler = (res, _req, capture) => {
      capture.handOver(undefined)
      res.end('worded')
    }
    expect((await record(handler)).recorded).toMatchObject(stored('worded'))
  })
})
