import { describe, expect, test } from '@jest/globals'
import { Recorder, type RecorderSetup } from '../../src/recorder/recorder.ts'
import type { ResponseHead } from '../../src/response/response-head.ts'
import type { Judgement } from '../../src/response/storable.ts'

const NOW = Date.UTC(2030, 0, 15, 12)
const LIFETIME = { ttl: 1000, staleWhileRevalidate: 0, staleIfError: 0 }
const STORE: Judgement = { kind: 'store', lifetime: LIFETIME }

function recorder(judgement: Judgement = STORE, setup: Partial<RecorderSetup> = {}): Recorder {
  return new Recorder({
    judge: () => judgement,
    extraFields: () => ({}),
    timeOfDay: () => NOW,
    maxBodyBytes: 10,
    maxCaptureBytes: Infinity,
    holdsStale: false,
    strip: [],
    ...setup,
  })
}

const head = (
  fields: ResponseHead['fields'] = {},
  before: ResponseHead['fields'] = {},
  status = 200,
): ResponseHead => ({
  status,
  fields,
  before,
  bodyLength: undefined,
})

/** How it came out, with its body as text. */
async function outcomeOf(recording: Recorder): Promise<unknown> {
  const recorded = await recording.done
  const response = 'response' in recorded ? recorded.response : undefined
  return { ...recorded, body: response?.body.toString() }
}

const unsettled = async (recording: Recorder): Promise<boolean> =>
  (await Promise.race([recording.done, Promise.resolve('open')])) === 'open'

describe('a whole answer', () => {
  test('is recorded with its body, a Date and a weak entity-tag', async () => {
    const recording = recorder()
    recording.head(head({ 'content-type': 'text/plain' }))
    recording.chunk(Buffer.from('ab'))
    recording.chunk(new Uint8Array([99]))
    expect(await unsettled(recording)).toBe(true)
    recording.end()
    expect(await recording.done).toEqual({
      kind: 'store',
      lifetime: LIFETIME,
      response: {
        status: 200,
        fields: {
          date: 'Tue, 15 Jan 2030 12:00:00 GMT',
          'content-type': 'text/plain',
          etag: expect.stringMatching(/^W\/"/),
        },
        removed: [],
        body: Buffer.from('abc'),
        initialAge: 0,
      },
      vary: [],
    })
  })

  test('may show its head last', async () => {
    const recording = recorder()
    recording.chunk(Buffer.from('abc'))
    recording.end()
    expect(await unsettled(recording)).toBe(true)
    recording.head(head({ 'content-length': '3' }))
    expect(await outcomeOf(recording)).toMatchObject({ kind: 'store', body: 'abc' })
  })

  test('keeps what the inside added or changed, and nothing that stood there before', async () => {
    const recording = recorder()
    const before = { 'x-request-id': '7', 'x-frame': 'a', 'x-powered-by': 'Express', link: '<a>' }
    recording.head(head({ 'x-request-id': '7', 'x-frame': 'b', etag: '"1"', link: ['<a>', '<b>'] }, before))
    recording.end()
    const recorded = await recording.done
    expect(recorded).toMatchObject({ response: { removed: ['content-type', 'x-powered-by'] } })
    expect(Object.keys(recorded.kind === 'store' ? recorded.response.fields : {})).toEqual([
      'date',
      'x-frame',
      'etag',
      'link',
    ])
  })

  test('keeps no field of the connection, of one request, or that is made anew', async () => {
    const recording = recorder()
    const never = ['keep-alive', 'transfer-encoding', 'te', 'upgrade', 'age', 'content-length', 'proxy-authenticate']
    const fields = Object.fromEntries(never.map((name) => [name, '0']))
    recording.head(head({ ...fields, etag: '"1"', connection: 'close, X-Hop', 'x-hop': '1', age: '4' }))
    recording.end()
    const recorded = await recording.done
    expect(recorded).toMatchObject({ kind: 'store', response: { initialAge: 4 } })
    expect(recorded.kind === 'store' ? Object.keys(recorded.response.fields) : []).toEqual(['date', 'etag'])
  })

  test('copies what it is given: the handler may use its buffer again', async () => {
    const recording = recorder()
    const buffer = Buffer.from('abc')
    recording.head(head())
    recording.chunk(buffer)
    buffer.fill('x')
    recording.end()
    expect(await outcomeOf(recording)).toMatchObject({ body: 'abc' })
  })

  test('of 204 has no body, whatever was written', async () => {
    const recording = recorder()
    recording.head(head({ 'content-length': '5' }, {}, 204))
    recording.chunk(Buffer.from('abc'))
    recording.end()
    expect(await outcomeOf(recording)).toMatchObject({ kind: 'store', body: '' })
  })

  test('takes nothing after its end', async () => {
    const recording = recorder()
    recording.chunk(Buffer.from('abc'))
    recording.end()
    recording.chunk(Buffer.from('def'))
    recording.head(head())
    expect(await outcomeOf(recording)).toMatchObject({ body: 'abc' })
  })
})

describe('an answer that is not whole', () => {
  test.each(['2', '4', 'x'])('because it declared a length of %s and has 3 is lost', async (length) => {
    const recording = recorder()
    recording.head(head({ 'content-length': length }))
    recording.chunk(Buffer.from('abc'))
    recording.end()
    expect(await recording.done).toEqual({ kind: 'aborted', cause: 'failure' })
  })

  test.each(['disconnect', 'failure'] as const)('because of a %s is lost', async (cause) => {
    const recording = recorder()
    recording.head(head())
    recording.abort(cause)
    recording.end()
    expect(await recording.done).toEqual({ kind: 'aborted', cause })
  })

  test('is not lost when the connection ends after its end', async () => {
    const recording = recorder()
    recording.head(head())
    recording.end()
    recording.abort('disconnect')
    expect((await recording.done).kind).toBe('store')
  })
})

describe('an answer for its own client alone', () => {
  test('is told apart as soon as its head is there, and no byte of it is kept', async () => {
    const recording = recorder({ kind: 'unshareable', why: 'set-cookie' })
    recording.chunk(Buffer.from('abc'))
    expect(recording.copying).toBe(true)
    recording.head(head())
    expect(recording.copying).toBe(false)
    expect(await recording.done).toEqual({ kind: 'unshareable', why: 'set-cookie' })
  })

  test('is one that grows beyond the limit: at the first byte too many', async () => {
    const recording = recorder()
    recording.head(head())
    recording.chunk(Buffer.alloc(10))
    expect(recording.copying).toBe(true)
    recording.chunk(Buffer.alloc(1))
    expect(recording.copying).toBe(false)
    expect(await recording.done).toEqual({ kind: 'unshareable', why: 'too-large', temporary: false })
  })

  test('is one that was not sent as it was told', async () => {
    const recording = recorder()
    recording.head(head())
    recording.markUnshareable('hijacked')
    recording.end()
    expect(await recording.done).toEqual({ kind: 'unshareable', why: 'hijacked' })
  })
})

describe('a failure', () => {
  const SHARED: Judgement = { kind: 'fail', share: true }
  const PERSONAL: Judgement = { kind: 'fail', share: false }

  test('that may be shared comes with its answer, once it is whole', async () => {
    const recording = recorder(SHARED)
    recording.head(head({}, {}, 500))
    expect(await unsettled(recording)).toBe(true)
    recording.chunk(Buffer.from('oops'))
    recording.end()
    expect(await outcomeOf(recording)).toMatchObject({ kind: 'fail', status: 500, body: 'oops' })
  })

  test('that may not is told at once, without its answer', async () => {
    const recording = recorder(PERSONAL)
    recording.head(head({}, {}, 500))
    expect(await recording.done).toEqual({ kind: 'fail', status: 500, response: undefined, vary: [] })
  })

  test('that is aborted, or too long, has no response to share', async () => {
    const [cut, long] = [recorder(SHARED), recorder(SHARED)]
    for (const recording of [cut, long]) recording.head(head({}, {}, 502))
    cut.abort('disconnect')
    long.chunk(Buffer.alloc(11))
    expect(await cut.done).toEqual({ kind: 'fail', status: 502, response: undefined, vary: [] })
    expect(await long.done).toEqual({ kind: 'fail', status: 502, response: undefined, vary: [] })
  })

  test('is withheld while a stale answer is at hand, and kept whole for its own client', async () => {
    const recording = recorder(PERSONAL, { holdsStale: true })
    expect([recording.withholds(499), recording.withholds(500)]).toEqual([false, true])
    recording.head(head({ 'set-cookie': 'a=b', trailer: 'x-sum' }, {}, 500))
    recording.chunk(Buffer.from('oops'))
    expect(recording.withheld).toBeUndefined()
    recording.end()
    await recording.done
    expect(recording.sent).toBe(false)
    expect(recording.withheld).toMatchObject({ head: { status: 500 } })
    expect(recording.withheld?.body.toString()).toBe('oops')
    // With a length of its own it can have no trailers.
    expect(recording.withheld?.head.fields).toEqual({ 'set-cookie': 'a=b' })
  })

  test('passes once no stale answer will come', () => {
    const recording = recorder(SHARED, { holdsStale: true })
    recording.stopWithholding()
    expect(recording.withholds(500)).toBe(false)
  })
})

test('a head is judged once, however often it is asked about', () => {
  let asked = 0
  const judge = (): Judgement => {
    asked += 1
    return STORE
  }
  const recording = recorder(STORE, { judge, extraFields: () => ({ a: 'x' }) })
  const seen = head()
  expect(recording.extraFields(seen)).toEqual({ a: 'x' })
  recording.head(seen)
  recording.end()
  expect(asked).toBe(1)
})
