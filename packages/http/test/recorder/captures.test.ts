import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { BodyCopy } from '../../src/recorder/body-copy.ts'
import { CaptureBudget } from '../../src/recorder/capture-budget.ts'
import { Recorder, type RecorderSetup } from '../../src/recorder/recorder.ts'
import type { ResponseHead } from '../../src/response/response-head.ts'
import type { Judgement } from '../../src/response/storable.ts'

const STORE: Judgement = {
  kind: 'store',
  lifetime: { ttl: 1000, staleWhileRevalidate: 0, staleIfError: 0 },
}
const FAIL: Judgement = { kind: 'fail', share: true }
const STORED = { status: 200, fields: { etag: '"a"' }, removed: [], body: Buffer.from('stored'), initialAge: 0 }

function recorder(captures: CaptureBudget, judgement: Judgement, setup: Partial<RecorderSetup> = {}): Recorder {
  const common = { judge: () => judgement, extraFields: () => ({}), timeOfDay: () => 0, strip: [], holdsStale: false }
  return new Recorder({ ...common, maxBodyBytes: 10, maxCaptureBytes: 20, captures, ...setup })
}

function begin(recording: Recorder, status = 200, bytes = 10): Recorder {
  recording.head({ status, fields: {}, before: {}, bodyLength: undefined } satisfies ResponseHead)
  recording.chunk(Buffer.alloc(bytes))
  return recording
}

describe('the bytes that all captures of a process hold', () => {
  test('are bounded: the chunk that goes beyond ends its own capture, and leaves the others alone', async () => {
    const captures = new CaptureBudget()
    const first = begin(recorder(captures, STORE))
    const second = begin(recorder(captures, STORE), 200, 9)
    const third = begin(recorder(captures, STORE), 200, 2)
    expect(await third.done).toEqual({ kind: 'unshareable', why: 'too-large', temporary: true })
    expect([third.copying, captures.held]).toEqual([false, 19])
    for (const recording of [first, second]) recording.end()
    expect(await first.done).toMatchObject({ kind: 'store', response: { body: Buffer.alloc(10) } })
    expect(await second.done).toMatchObject({ kind: 'store', response: { body: Buffer.alloc(9) } })
    expect(captures.held).toBe(0)
  })

  test.each<[string, Judgement, number, (recording: Recorder) => void]>([
    ['is whole', STORE, 200, (recording) => recording.end()],
    ['is shared', { kind: 'share', why: 'status' }, 404, (recording) => recording.end()],
    ['turns out to be nobody else’s', { kind: 'unshareable', why: 'private' }, 200, () => undefined],
    ['grows too large', STORE, 200, (recording) => recording.chunk(Buffer.alloc(1))],
    ['loses its client', STORE, 200, (recording) => recording.abort('disconnect')],
    ['is aborted', STORE, 200, (recording) => recording.abort('failure')],
    ['is taken over', STORE, 200, (recording) => recording.markUnshareable('hijacked')],
    ['fails', FAIL, 500, (recording) => recording.end()],
    ['fails in the middle', FAIL, 500, (recording) => recording.abort('failure')],
  ])('are none of a capture that %s', async (_, judgement, status, end) => {
    const captures = new CaptureBudget()
    for (let round = 0; round < 100; round += 1) {
      const recording = begin(recorder(captures, judgement), status)
      end(recording)
      recording.chunk(Buffer.alloc(5))
      await recording.done
      expect(captures.held).toBe(0)
    }
  })

  test.each(['before it is over', 'after'])(
    'are those of a failure that is withheld until its request is answered, %s',
    async (when) => {
      const captures = new CaptureBudget()
      const recording = begin(recorder(captures, FAIL, { holdsStale: true }), 500)
      if (when !== 'after') recording.stopWithholding()
      recording.end()
      await recording.done
      const expected = when === 'after' ? [10, 10] : [0, undefined]
      expect([captures.held, recording.withheld?.body.length]).toEqual(expected)
      recording.stopWithholding()
      expect(captures.held).toBe(0)
    },
  )

  test('do not count an answer that is stored already, and holds again', async () => {
    const captures = new CaptureBudget()
    const recording = begin(recorder(captures, STORE, { responseToRevalidate: STORED }), 304, 0)
    recording.end()
    expect(await recording.done).toMatchObject({ kind: 'store', response: { body: STORED.body } })
    expect(captures.held).toBe(0)
  })

  test('are counted once however often a copy is dropped', () => {
    const captures = new CaptureBudget()
    const copy = new BodyCopy({ maxBodyBytes: 10, maxCaptureBytes: 20 }, captures)
    copy.add(Buffer.alloc(4))
    expect(captures.held).toBe(4)
    copy.drop()
    copy.drop()
    expect(captures.held).toBe(0)
  })

  test('hold little more memory than the bytes that they count, however small the chunks are', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const inUse = (): number => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const copy = new BodyCopy({ maxBodyBytes: 1e7, maxCaptureBytes: 1e7 }, new CaptureBudget())
    const before = inUse()
    for (let row = 0; row < 250_000; row += 1) copy.add('row\n')
    expect(inUse() - before).toBeLessThan(3 * 1_000_000)
    expect(copy.bytes.toString()).toBe('row\n'.repeat(250_000))
  })
})
