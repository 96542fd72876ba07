import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import type { Capture } from '../../../src/node/capture/capture.ts'
import type { RecordingResult } from '../../../src/recorder/recording-result.ts'
import { isHeadSent } from '../../../src/fields/response-state.ts'
import { record } from '../../support/recorded-server.ts'

const stored = (recorded: RecordingResult): { readonly body: string; readonly fields: Record<string, unknown> } => {
  if (recorded.kind !== 'store') throw new Error(`recorded as ${JSON.stringify(recorded)}`)
  return { body: recorded.response.body.toString(), fields: recorded.response.fields }
}

describe('every way to write a body is recorded as it reached the client', () => {
  test.each<[string, Parameters<typeof record>[0], string]>([
    ['end(text)', (res) => res.end('grün'), 'grün'],
    ['end(text, encoding)', (res) => res.end('6869', 'hex'), 'hi'],
    ['end(bytes, callback)', (res) => res.end(Buffer.from('hi'), () => undefined), 'hi'],
    ['end(callback)', (res) => res.end(() => undefined), ''],
    ['end()', (res) => res.end(), ''],
    ['write(text, encoding), end()', (res) => [res.write('aGk=', 'base64'), res.end()], 'hi'],
    [
      'write(Uint8Array), end(Uint8Array)',
      (res) => [res.write(new Uint8Array([104])), res.end(new Uint8Array([105]))],
      'hi',
    ],
    ['write after flushHeaders', (res) => [res.flushHeaders(), res.write('h'), res.end('i')], 'hi'],
    ['writeHead(…).end(text)', (res) => res.writeHead(200).end('hi'), 'hi'],
    ['a stream', (res) => Readable.from(['h', 'i'], { objectMode: false }).pipe(res), 'hi'],
    ['corked writes', (res) => [res.cork(), res.write('h'), res.write('i'), res.uncork(), res.end()], 'hi'],
  ])('%s', async (_, handler, body) => {
    const outcome = await record(handler)
    expect(outcome.body).toBe(body)
    expect(stored(outcome.recorded).body).toBe(body)
  })

  test('callbacks of write and end are called', async () => {
    const called: string[] = []
    await record((res) => {
      res.write('a', () => called.push('write'))
      res.end('b', () => called.push('end'))
    })
    expect(called).toEqual(['write', 'end'])
  })
})

describe('every way to write a head is seen', () => {
  test.each<[string, Parameters<typeof record>[0]]>([
    ['setHeader', (res) => res.setHeader('Set-Cookie', 'a=b').end()],
    ['writeHead(status, object)', (res) => res.writeHead(200, { 'Set-Cookie': 'a=b' }).end()],
    ['writeHead(status, reason, object)', (res) => res.writeHead(200, 'Fine', { 'set-cookie': ['a=b'] }).end()],
    ['writeHead(status, flat list)', (res) => res.writeHead(200, ['Set-Cookie', 'a=b']).end()],
    ['writeHead(status, reason, flat list)', (res) => res.writeHead(200, 'Fine', ['SET-COOKIE', 'a=b']).end()],
    ['writeHead(status, undefined, object)', (res) => res.writeHead(200, undefined, { 'Set-Cookie': 'a=b' }).end()],
    [
      'a layer inside ours, at writeHead',
      (res) => {
        const below = res.writeHead.bind(res)
        res.writeHead = (status: number) => {
          res.setHeader('set-cookie', 'a=b')
          return below(status)
        }
        res.end('hi')
      },
    ],
  ])('a cookie through %s', async (_, handler) => {
    const { recorded, headers } = await record(handler)
    expect(headers['set-cookie']).toEqual(['a=b'])
    expect(recorded).toEqual({ kind: 'unshareable', why: 'set-cookie' })
  })

  test('that is written after the response was destroyed, with its body', async () => {
    const { recorded, body } = await record((res) => [res.destroy(), res.write('h'), res.end('i')])
    expect(body).toBe('broken off')
    expect(stored(recorded).body).toBe('hi')
  })

  test('a flat list may repeat a name, and replaces what was set before', async () => {
    const { recorded } = await record((res) => {
      res.setHeader('x-list', 'before')
      res.writeHead(200, ['X-List', '1', 'x-list', '2', 'x-one', '3']).end()
    })
    expect(stored(recorded).fields).toMatchObject({ 'x-list': ['1', '2'], 'x-one': '3' })
  })

  test('what a layer outside ours does to the answer is not stored', async () => {
    const { recorded, headers } = await record((res) => res.end('hi'), {
      outside: (res) => {
        res.setHeader('x-request-id', '7')
        const below = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
        res.writeHead = (...args: unknown[]) => {
          res.setHeader('content-encoding', 'gzip')
          res.setHeader('vary', 'accept-encoding')
          return below(...args)
        }
      },
    })
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'x-request-id': '7' })
    expect(Object.keys(stored(recorded).fields).toSorted()).toEqual(['date', 'etag'])
  })

  test('a head that Node refuses was never there: the next one is recorded', async () => {
    const { recorded, status } = await record((res) => {
      expect(() => res.writeHead(200, { 'x-bad': 'a\r\nb' })).toThrow('Invalid character')
      res.writeHead(404).end('none')
    })
    expect(status).toBe(404)
    expect(recorded).toMatchObject({ kind: 'share', response: { status: 404 } })
  })

  test('the length of the body is known at the head only when the whole of it is at hand', async () => {
    const whole = await record((res) => res.end('hi'))
    const parts = await record((res) => [res.write('h'), res.end('i')])
    expect([whole.heads[0]?.bodyLength, parts.heads[0]?.bodyLength]).toEqual([2, undefined])
  })

  test('early hints are no head', async () => {
    const { recorded } = await record((res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' })
      res.end('hi')
    })
    expect(stored(recorded)).toMatchObject({
      body: 'hi',
      fields: expect.not.objectContaining({ link: expect.anything() }),
    })
  })
})

describe('an answer that must not be kept', () => {
  test('because it is shorter than it declared is lost, although Node says that it finished', async () => {
    const { recorded } = await record((res) => {
      res.writeHead(200, { 'content-length': '10' })
      res.end('hi')
      res.socket?.end()
    })
    expect(recorded).toEqual({ kind: 'aborted', cause: 'failure' })
  })

  test.each<[string, Parameters<typeof record>[0]]>([
    ['res.destroy', (res) => [res.write('h'), setImmediate(() => res.destroy())]],
    [
      'a stream that fails',
      (res) => {
        const source = new Readable({ read: () => undefined })
        source.push('h')
        source.once('error', () => res.destroy())
        source.pipe(res)
        setImmediate(() => source.destroy(new Error('the disk is gone')))
      },
    ],
    ['the socket', (res, req) => [res.write('h'), setImmediate(() => req.socket.destroy())]],
    ['res.destroy before the head', (res) => setImmediate(() => res.destroy())],
  ])('because %s breaks it off was the handler’s doing', async (_, handler) => {
    const { recorded, body } = await record(handler)
    expect(body).toBe('broken off')
    expect(recorded).toEqual({ kind: 'aborted', cause: 'failure' })
  })

  test('because it is destroyed right after its end, as @hono/node-server does for a stream that fails', async () => {
    const { recorded } = await record((res) => {
      res.write('a part')
      setImmediate(() => [res.end(' and an error'), res.destroy(new Error('torn'))])
    })
    expect(recorded).toEqual({ kind: 'aborted', cause: 'failure' })
  })

  test('data after the end reaches neither client nor recording', async () => {
    const { recorded, body } = await record((res) => {
      res.once('error', () => undefined)
      res.end('hi')
      res.write(' and more')
    })
    expect([body, stored(recorded).body]).toEqual(['hi', 'hi'])
  })
})

describe('a failure that is withheld', () => {
  const answer = { status: 200, fields: { 'x-stale': '1' }, removed: [], body: Buffer.from('stale') }
  const withheld = { holdsStale: true, onceRecorded: (capture: Capture) => capture.send(answer) }

  test.each<[string, Parameters<typeof record>[0]]>([
    ['writeHead(500).end(text)', (res) => res.writeHead(500, 'Broken', { 'set-cookie': 'a=b' }).end('oops')],
    ['statusCode = 503, end(text)', (res) => [(res.statusCode = 503), res.setHeader('x-leak', '1'), res.end('oops')]],
    ['statusCode = 500, write, end', (res) => [(res.statusCode = 500), res.write('oo'), res.write('p'), res.end('s')]],
    ['statusCode = 500, flushHeaders, end', (res) => [(res.statusCode = 500), res.flushHeaders(), res.end('oops')]],
  ])('%s: nothing of it reaches the client, and the stale answer does', async (_, handler) => {
    const { status, headers, body, recorded } = await record(handler, withheld)
    expect({ status, body, stale: headers['x-stale'] }).toEqual({ status: 200, body: 'stale', stale: '1' })
    expect(headers).not.toHaveProperty('set-cookie')
    expect(headers).not.toHaveProperty('x-leak')
    expect(recorded.kind).toBe('fail')
  })

  test('its callbacks are called all the same: a handler may wait for them', async () => {
    const called: string[] = []
    await record((res) => {
      res.statusCode = 500
      res.write('a', () => called.push('write'))
      res.end('b', () => called.push('end'))
    }, withheld)
    expect(called).toEqual(['write', 'end'])
  })

  test('a success goes out although a stale answer is at hand', async () => {
    const { status, body } = await record((res) => res.end('new'), { holdsStale: true })
    expect({ status, body }).toEqual({ status: 200, body: 'new' })
  })

  test('a layer outside that defines headersSent itself has its own again when the stale answer is sent', async () => {
    const shown: boolean[] = []
    let own: ServerResponse | undefined
    const { body } = await record(
      (res) => {
        res.statusCode = 500
        res.end('oops')
        shown.push(res.headersSent, isHeadSent(res))
      },
      {
        ...withheld,
        outside: (res) => {
          own = res
          Object.defineProperty(res, 'headersSent', { configurable: true, get: () => false })
        },
      },
    )
    expect(body).toBe('stale')
    expect([...shown, own?.headersSent]).toEqual([true, false, false])
  })

  test('what layers outside ours had set is there again, and what the handler took away too', async () => {
    const { headers } = await record(
      (res) => {
        res.removeHeader('x-outer')
        res.setHeader('x-other', 'mine')
        res.writeHead(500).end()
      },
      { ...withheld, outside: (res) => res.setHeader('x-outer', '1').setHeader('x-other', '2') },
    )
    expect(headers).toMatchObject({ 'x-outer': '1', 'x-other': '2' })
  })
})

describe('a handler that goes on after its answer was given by somebody else', () => {
  test('does so in vain, and nothing of it throws', async () => {
    const late = new Promise<unknown>((resolve) => {
      void record((res, _, capture) => {
        capture.send({ status: 200, fields: {}, removed: [], body: Buffer.from('stale') })
        try {
          res.setHeader('content-type', 'text/plain')
          res.removeHeader('x')
          res.writeHead(200, { 'x-late': '1' })
          res.write('late')
          res.end('later', () => resolve('called back'))
        } catch (error) {
          resolve(error)
        }
      })
    })
    expect(await late).toBe('called back')
  })

  test('does so in vain too after the response was given back for an error’s answer', async () => {
    const outcome = record((res, _, capture) => {
      res.setHeader('x-leak', '1')
      capture.reopen()
      res.statusCode = 504
      res.end('too late')
      res.setHeader('x-late', '1')
      res.end('late')
    })
    const { status, body, headers } = await outcome
    expect({ status, body }).toEqual({ status: 504, body: 'too late' })
    expect(headers).not.toHaveProperty('x-leak')
  })
})
