import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { type Answered, type Play, post } from '../support/delayed-server.ts'

describe('while the end waits', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['end(text)', (res) => res.end('done')],
    ['end()', (res) => res.end()],
    ['end(bytes, "buffer")', (res) => Reflect.apply(res.end, res, [Buffer.from('done'), 'buffer'])],
    ['writeHead(201).end(text)', (res) => res.writeHead(201).end('done')],
    ['write(text), end()', (res) => [res.write('done'), res.end()]],
  ])('after %s the app sees an answer that is given, but not yet sent', async (_, handle) => {
    const seen: unknown[] = []
    const look = (res: ServerResponse): void => {
      seen.push([res.headersSent, res.writableEnded, Reflect.get(res, 'finished'), res.writableFinished])
    }
    let answer: ServerResponse | undefined
    await post({
      handle: (res) => {
        answer = res
        handle(res)
        look(res)
      },
      meanwhile: () => answer && look(answer),
    })
    expect(seen).toEqual([
      [true, true, true, false],
      [true, true, true, false],
    ])
    expect(answer?.writableEnded).toBe(true)
  })

  test('what is written or ended once more is Node’s error, and does not get into the answer', async () => {
    const errors: unknown[] = []
    const { body } = await post({
      handle: (res) => {
        res.on('error', ({ message }) => errors.push(message))
        res.end('done')
        expect(res.write('more')).toBe(false)
        res.end('and more')
        expect(() => Reflect.apply(res.write, res, [5])).toThrow('Received type number')
        expect(() => res.write(null)).toThrow('null values')
      },
    })
    await new Promise(setImmediate)
    expect([body, errors]).toEqual(['done', ['write after end', 'write after end']])
  })

  test.each<[string, (res: ServerResponse) => unknown]>([
    ['res.destroy()', (res) => res.destroy()],
    ['req.socket.destroy()', ({ req }) => req.socket.destroy()],
  ])('%s closes the connection after the end', async (_, destroy) => {
    const sockets: Socket[] = []
    const { body } = await post({
      handle: (res) => {
        sockets.push(res.req.socket)
        destroy(res.end('done'))
      },
    })
    expect([body, sockets[0]?.destroyed]).toEqual(['done', true])
  })

  test('what a layer outside throws for a second end goes nowhere', async () => {
    const { body } = await post({
      outside: (res) => {
        const { end } = res
        res.end = (...args: never[]) => {
          if (res.writableEnded) throw new Error('ended twice')
          return Reflect.apply(end, res, args)
        }
      },
      handle: (res) => void res.end('done').end('and more'),
    })
    await new Promise(setImmediate)
    expect(body).toBe('done')
  })

  test('a layer outside may define a headersSent of its own, as @fastify/express does', async () => {
    const { status, body } = await post({
      outside: (res) => Object.defineProperty(res, 'headersSent', { get: () => false }),
      handle: (res) => void res.writeHead(201).end('done'),
    })
    expect([status, body]).toEqual([201, 'done'])
  })

  test.each([
    ['that replaces end is left alone', true, 'time'],
    ['that kept end is refused, as after Node’s own end', false, 'done'],
  ])('an answer of a layer outside %s', async (_, replaces, expected) => {
    let timeOut = (): void => undefined
    const { body } = await post({
      outside: (res) => {
        const end = res.end.bind(res)
        timeOut = () => void end('time')
        if (replaces) res.end = (...args: never[]) => Reflect.apply(end, res, args)
      },
      handle: (res) => void res.end('done'),
      meanwhile: () => timeOut(),
    })
    expect(body).toBe(expected)
  })

  test('a layer outside that replaces write may still write: Node’s own methods see by finished that nothing has ended', async () => {
    const seen: unknown[] = []
    let flush = (): void => undefined
    const { body } = await post({
      outside: (res) => {
        const write = res.write.bind(res)
        res.write = (chunk: string) => {
          flush = () => void write(chunk.toUpperCase())
          return true
        }
      },
      handle: (res) => {
        res.writeHead(201).write('late')
        res.end()
        seen.push(Reflect.get(res, 'finished'))
      },
      meanwhile: () => flush(),
    })
    expect([body, seen]).toEqual(['LATE', [false]])
  })
})

/** The answer as Node sends it, and as it is sent late. */
async function both(handle: Play['handle']): Promise<readonly (Answered & { readonly acted: number })[]> {
  const answers = [await post({ handle }, () => undefined), await post({ handle })]
  return answers.map((answer) => ({ ...answer, headers: { ...answer.headers, date: undefined } }))
}

describe('the answer is the one that Node would send', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['end(text)', (res) => res.end('grün')],
    ['end(text, encoding)', (res) => res.end('6869', 'hex')],
    ['end(bytes)', (res) => res.end(new Uint8Array([104, 105]))],
    ['end(bytes, "buffer")', (res) => Reflect.apply(res.end, res, [Buffer.from('hi'), 'buffer'])],
    ['end(text, null, null)', (res) => Reflect.apply(res.end, res, ['hi', null, null])],
    ['end()', (res) => res.end()],
    ['end(0)', (res) => Reflect.apply(res.end, res, [0])],
    ['a content-length', (res) => res.setHeader('content-length', 2).end('hi')],
    ['204', (res) => Object.assign(res, { statusCode: 204 }).end('hi')],
    ['a redirect', (res) => Object.assign(res, { statusCode: 303 }).setHeader('location', '/b').end()],
    ['writeHead(201).end(text)', (res) => res.writeHead(201, { 'x-a': '1' }).end('hi')],
    ['write(text), end(text)', (res) => [res.write('h'), res.end('i')]],
    ['trailers', (res) => [res.setHeader('trailer', 'x-sum'), res.addTrailers({ 'x-sum': '1' }), res.end('hi')]],
  ])('to %s', async (_, handle) => {
    const [plain, late] = await both(handle)
    expect(late).toEqual({ ...plain, acted: 1 })
  })

  test('and calls the handler back', async () => {
    const called: string[] = []
    await post({ handle: (res) => void res.end('x', () => called.push('end')) })
    expect(called).toEqual(['end'])
  })

  test('and ends the pipeline of a stream without an error', async () => {
    const ended: unknown[] = []
    const { body } = await post({
      handle: (res) => void pipeline(Readable.from(['h', 'i']), res, (error) => ended.push(error)),
    })
    expect([body, ended]).toEqual(['hi', [undefined]])
  })
})

describe('what Node throws is thrown to the handler', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['end(5)', (res) => Reflect.apply(res.end, res, [5])],
    ['end([])', (res) => Reflect.apply(res.end, res, [[]])],
    ['end(a Uint16Array)', (res) => Reflect.apply(res.end, res, [new Uint16Array(1)])],
    ['end(text, an unknown encoding)', (res) => Reflect.apply(res.end, res, ['x', 'utf-9'])],
    ['end(text, 7)', (res) => Reflect.apply(res.end, res, ['x', 7])],
    ['write(5)', (res) => Reflect.apply(res.write, res, [5])],
    ['a bad statusMessage', (res) => Object.assign(res, { statusMessage: 'a\nb' }).end('x')],
    ['a bad field of writeHead', (res) => res.writeHead(200, { 'x-bad': 'a\r\nb' })],
  ])('for %s, and the answer that follows is sent', async (_, wrong) => {
    const thrown: unknown[] = []
    const [plain, late] = await both((res) => {
      try {
        wrong(res)
      } catch (error) {
        thrown.push((error as NodeJS.ErrnoException).code)
        throw error
      }
    })
    expect([late?.status, late?.body]).toEqual([plain?.status, plain?.body])
    expect(thrown).toEqual([expect.any(String), thrown[0]])
  })

  test('what it throws only at the end itself breaks the connection, and nothing else', async () => {
    const handle = (res: ServerResponse): void => {
      res.strictContentLength = true
      res.setHeader('content-length', 3).end('x')
    }
    expect((await both(handle)).map(({ body }) => body)).toEqual([undefined, undefined])
  })
})
