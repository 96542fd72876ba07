import type { ServerResponse } from 'node:http'
import { finished, PassThrough, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from '@jest/globals'
import { ownListener } from '../../../src/node/capture/close-listeners.ts'
import type { Recorder } from '../../../src/recorder/recorder.ts'
import { type Outcome, record, type Setting } from '../../support/recorded-server.ts'

/** Runs a handler whose client has left; resolves to how its answer was recorded and what the handler returned or threw. */
async function detached(
  handler: (res: ServerResponse) => unknown,
  setting: Setting = {},
): Promise<{ readonly recorded: Outcome['recorded']; readonly ended: unknown }> {
  let ended: Promise<unknown> | undefined
  const { recorded } = await record(
    (res) => {
      ended = (async () => await handler(res))().catch((error: unknown) => error)
    },
    { ...setting, leaves: true },
  )
  return { recorded, ended: await ended }
}

const bodyOf = ({ recorded }: { readonly recorded: Outcome['recorded'] }): string =>
  recorded.kind === 'store' ? recorded.response.body.toString() : recorded.kind

describe('a handler whose client left before the head', () => {
  test.each<[string, (res: ServerResponse) => unknown]>([
    ['end', (res) => new Promise<void>((resolve) => void res.end('whole', resolve))],
    [
      'write and end',
      async (res) => {
        await new Promise<void>((resolve) => void res.write('who', () => resolve()))
        await new Promise<void>((resolve) => void res.write('l', 'utf8', () => resolve()))
        await new Promise<void>((resolve) => void res.end('e', resolve))
      },
    ],
    ['flushHeaders first', (res) => (res.flushHeaders(), pipeline(Readable.from(['wh', 'ole']), res))],
    ['pipe', (res) => new Promise((resolve) => Readable.from(['wh', 'ole']).pipe(res).once('finish', resolve))],
    ['pipe, until close', (res) => new Promise((resolve) => Readable.from(['whole']).pipe(res).once('close', resolve))],
    ['pipeline of a stream', async (res) => await pipeline(Readable.from(['wh', 'ole']), res)],
    ['pipeline through a stream', async (res) => await pipeline(Readable.from(['wh', 'ole']), new PassThrough(), res)],
    ['pipeline of an iterable', async (res) => await pipeline(['wh', 'ole'], res)],
    ['pipeline of a web stream', async (res) => await pipeline(new Blob(['whole']).stream(), res)],
    ['pipeTo', async (res) => await new Blob(['whole']).stream().pipeTo(Writable.toWeb(res))],
  ])('answers whole by %s, and comes to its end', async (_, answer) => {
    const outcome = await detached(async (res) => {
      await answer(res)
      return [res.destroyed, res.closed, res.writableEnded]
    })
    expect(bodyOf(outcome)).toBe('whole')
    expect(outcome.ended).toEqual([true, true, true])
  })

  test.each<[string, (res: ServerResponse) => unknown]>([
    ['response is destroyed', (res) => res.destroyed],
    ['response is closed', (res) => res.closed],
    ['request is destroyed', (res) => res.req.destroyed],
    ['connection is destroyed', (res) => res.req.socket.destroyed],
  ])('that asks whether its %s gets the truth, and nobody else its answer', async (_, asks) => {
    const { recorded, ended } = await detached((res) => {
      const answered = asks(res)
      res.end('half')
      return answered
    })
    expect([recorded, ended]).toEqual([{ kind: 'aborted', cause: 'disconnect' }, true])
  })

  test('hears the end of a response that it watches', async () => {
    const { ended } = await detached(
      (res) =>
        new Promise((resolve) => {
          finished(res, (error) => resolve(error ?? 'finished'))
          res.end('whole')
        }),
    )
    expect(ended).toBe('finished')
  })

  test('sees that nobody is there once its answer turns out to be its own client’s', async () => {
    const source = new PassThrough()
    const { recorded, ended } = await detached(async (res) => {
      res.setHeader('set-cookie', 'a=b')
      source.write('for one')
      await pipeline(source, res)
    })
    expect(recorded).toEqual({ kind: 'unshareable', why: 'set-cookie' })
    expect(ended).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
    expect(source.destroyed).toBe(true)
  })

  test('sees it once its body is longer than may be kept', async () => {
    const source = new PassThrough()
    const { recorded, ended } = await detached(
      async (res) => {
        source.write('too long')
        await pipeline(source, res)
      },
      { maxBodyBytes: 3 },
    )
    expect(recorded).toMatchObject({ kind: 'unshareable', why: 'too-large' })
    expect(ended).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
    expect(source.destroyed).toBe(true)
  })

  test('sees it once its load is over, and is refused what it still writes', async () => {
    let recorder: Recorder | undefined
    const { recorded, ended } = await detached(
      async (res) => {
        const piped = pipeline(new PassThrough(), res).catch((error: unknown) => error)
        recorder?.abort('failure')
        return [res.destroyed, await piped, await new Promise((resolve) => void res.write('late', resolve))]
      },
      { onceBegun: (begun) => (recorder = begun) },
    )
    expect(recorded).toEqual({ kind: 'aborted', cause: 'failure' })
    expect(ended).toMatchObject([true, { code: 'ERR_STREAM_PREMATURE_CLOSE' }, { code: 'ERR_STREAM_DESTROYED' }])
  })

  test.each<[string, (res: ServerResponse) => unknown, unknown]>([
    ['destroys the response', (res) => void res.destroy(), undefined],
    [
      'pipes a stream that breaks',
      async (res) =>
        await pipeline(
          new Readable({
            read() {
              this.destroy(new Error('the disk is gone'))
            },
          }),
          res,
        ),
      expect.objectContaining({ message: 'the disk is gone' }),
    ],
    ['answers 500', (res) => res.writeHead(500).end('oops') && undefined, undefined],
  ])('and that %s is recorded as one whose client left', async (_, answer, how) => {
    const { recorded, ended } = await detached(answer)
    expect(recorded).toEqual({ kind: 'aborted', cause: 'disconnect' })
    expect(ended).toEqual(how)
  })

  test('answers for itself alone where a layer outside adds a cookie to its head', async () => {
    const { recorded } = await detached((res) => res.end('whole'), {
      outside: (res) => {
        const { writeHead } = res
        res.writeHead = (...args: never[]) => {
          res.setHeader('set-cookie', 'a=b')
          return Reflect.apply(writeHead, res, args) as typeof res
        }
      },
    })
    expect(recorded).toEqual({ kind: 'unshareable', why: 'set-cookie' })
  })

  test('is no news to the layers outside: they have seen the disconnect, and see the end without a body', async () => {
    const seen: string[] = []
    const handler = (res: ServerResponse): unknown => {
      res.setHeader('content-length', '5')
      res.flushHeaders()
      res.write('who')
      return new Promise((resolve) => void res.once('close', resolve).end('le'))
    }
    await detached(handler, {
      outside: (res) => {
        for (const event of ['close', 'finish'] as const)
          res.on(
            event,
            ownListener(() => seen.push(event)),
          )
        const { write, end } = res
        res.write = ((...args: never[]) => (seen.push('write'), Reflect.apply(write, res, args))) as typeof write
        res.end = ((...args: never[]) => (
          seen.push(`end of ${args.length}, ${res.getHeaderNames().length} fields`),
          Reflect.apply(end, res, args)
        )) as typeof end
        res.setHeader('x-outer', '1')
      },
    })
    expect(seen).toEqual(['close', 'end of 0, 2 fields'])
  })
})
