import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { post } from '../support/delayed-server.ts'

/** A layer outside that keeps the body back until its end, and changes it there. */
function rewriting(res: ServerResponse): void {
  const chunks: Buffer[] = []
  const { end } = res
  res.write = (chunk: string) => {
    chunks.push(Buffer.from(chunk))
    return true
  }
  res.end = (chunk?: unknown) => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk))
    const body = `${Buffer.concat(chunks).toString()} and rewritten`
    if (!res.headersSent) res.setHeader('content-length', Buffer.byteLength(body))
    return Reflect.apply(end, res, [body]) as ServerResponse
  }
}

test('a layer that rewrites the body by a prototype of the response declares the length itself', async () => {
  const outside = (res: ServerResponse): void => {
    const prototype = Object.create(Object.getPrototypeOf(res) as object) as ServerResponse
    const { end } = res
    prototype.end = () => {
      res.setHeader('content-length', '9')
      return Reflect.apply(end, res, ['rewritten']) as ServerResponse
    }
    Object.setPrototypeOf(res, prototype)
  }
  const { body, headers } = await post({ outside, handle: (res) => res.end('done') })
  expect([body, headers['content-length']]).toEqual(['rewritten', '9'])
})

describe('a layer outside that rewrites the body in its end', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['end(text)', (res) => res.end('done')],
    ['write(text), end()', (res) => [res.write('done'), res.end()]],
    ['a pipe', (res) => Readable.from(['do', 'ne']).pipe(res)],
  ])('declares the length itself, after %s', async (_, handle) => {
    const { status, headers, body, acted } = await post({ outside: rewriting, handle })
    expect([status, body, headers['content-length'], acted]).toEqual([200, 'done and rewritten', '18', 1])
  })
})

describe('a second answer, below a layer outside that rewrites the body in its end,', () => {
  test.each<[string, (res: ServerResponse) => void]>([
    ['by a field', (res) => res.setHeader('content-type', 'text/html')],
    ['by a head', (res) => res.writeHead(500)],
  ])('%s gets Node’s error, and changes nothing', async (_, again) => {
    const thrown: unknown[] = []
    const { status, headers, body } = await post({
      outside: rewriting,
      handle: (res) => {
        res.end('once')
        res.statusCode = 500
        try {
          res.flushHeaders()
          again(res)
        } catch (error) {
          thrown.push((error as NodeJS.ErrnoException).code)
        }
        res.end('twice')
      },
    })
    expect([status, body, headers['content-type'], thrown]).toEqual([
      200,
      'once and rewritten',
      undefined,
      ['ERR_HTTP_HEADERS_SENT'],
    ])
  })
})
