import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { CaptureBudget } from '../../../src/recorder/capture-budget.ts'
import { PayloadCapture } from '../../../src/node/capture/payload-capture.ts'
import { Recorder } from '../../../src/recorder/recorder.ts'
import type { Judgement } from '../../../src/response/storable.ts'

const STORE: Judgement = {
  kind: 'store',
  lifetime: { ttl: 1000, staleWhileRevalidate: 0, staleIfError: 0 },
}

function captured() {
  const budget = new CaptureBudget()
  const common = { judge: () => STORE, extraFields: () => ({}), timeOfDay: () => 0, strip: [], holdsStale: false }
  const recorder = new Recorder({ ...common, maxBodyBytes: 10, maxCaptureBytes: 20, captures: budget })
  const req = new IncomingMessage(new Socket())
  const res = new ServerResponse(req)
  const response = { req, res, before: {}, isHijacked: () => false }
  return { budget, recorder, res, capture: new PayloadCapture(response, recorder) }
}

/** Sends a stream of these chunks, as a framework whose later hook reads the whole stream before the head is out. */
async function readEarly(capture: PayloadCapture, chunks: Iterable<Buffer>, status = 200): Promise<Buffer> {
  const copy = capture.follow(status, {}, Readable.from(chunks, { objectMode: false }))?.payload as Readable
  return Buffer.concat((await copy.toArray()) as Buffer[])
}

function send(res: ServerResponse, body: Buffer, status = 200): void {
  res.writeHead(status)
  res.end(body)
}

describe('a stream that a later hook reads before the head is out', () => {
  test('counts among the captured bytes of the process, and is stored', async () => {
    const { budget, recorder, res, capture } = captured()
    const body = await readEarly(capture, [Buffer.from('one '), Buffer.from('two')])
    expect(budget.held).toBe(7)
    send(res, body)
    expect(await recorder.done).toMatchObject({ kind: 'store', response: { body: Buffer.from('one two') } })
    expect(budget.held).toBe(0)
  })

  test('is not held beyond maxBodyBytes: the response is too large', async () => {
    const { budget, recorder, res, capture } = captured()
    const body = await readEarly(capture, [Buffer.alloc(8), Buffer.alloc(8)])
    expect([budget.held, recorder.copying]).toEqual([0, false])
    send(res, body)
    expect(await recorder.done).toEqual({ kind: 'unshareable', why: 'too-large', temporary: false })
  })

  test('is copied, because its source may use a buffer again', async () => {
    const { recorder, res, capture } = captured()
    const buffer = Buffer.from('one')
    const body = await readEarly(capture, [buffer])
    buffer.write('two')
    send(res, body)
    expect(await recorder.done).toMatchObject({ kind: 'store', response: { body: Buffer.from('one') } })
  })

  test('is forgotten where the framework sends another payload instead, also if it was too large', async () => {
    const { budget, recorder, res, capture } = captured()
    await readEarly(capture, [Buffer.alloc(8), Buffer.alloc(8)])
    const body = await readEarly(capture, [Buffer.from('other')], 500)
    expect(budget.held).toBe(5)
    send(res, body, 500)
    expect(await recorder.done).toMatchObject({ kind: 'store', response: { body: Buffer.from('other') } })
  })
})

test('a stream under way is not whole because the framework sends another payload, which is', async () => {
  const { recorder, res, capture } = captured()
  const source = new PassThrough()
  const copy = capture.follow(200, {}, source)?.payload as Readable
  res.writeHead(200)
  source.write('begun')
  await once(copy, 'data')
  capture.follow(500, {}, 'The handler threw.')
  res.end()
  expect(await recorder.done).toMatchObject({ kind: 'unshareable', why: 'hijacked' })
})
