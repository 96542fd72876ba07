import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { fieldsForNextHop } from '../src/hop-by-hop.ts'
import { askRaw } from './raw-client.ts'
import { openScene, type Scene } from './scene.ts'
import type { Step } from './scripted-origin.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

describe('a message on its way through the proxy', () => {
  test('keeps status, fields and body, and tells its way in Via', async () => {
    const path = scene.path({
      status: 201,
      fields: { 'X-One': ['a', 'b'], ETag: '"v"', 'Content-Type': 'text/x' },
      body: 'made',
    })
    const answer = await scene.ask(`${path}?q=%20x&y`, { method: 'POST', fields: { 'X-Two': 'c' }, body: 'thing' })
    expect(answer).toMatchObject({ status: 201, body: 'made' })
    expect(answer.fields.get('x-one')).toEqual(['a', 'b'])
    expect(answer.field('etag')).toBe('"v"')
    expect(answer.field('via')).toBe('1.1 cattlegrid')
    const [arrived] = scene.arrived(path)
    expect(arrived).toMatchObject({ method: 'POST', target: `${path}?q=%20x&y`, body: 'thing' })
    expect(arrived?.headers).toMatchObject({ 'x-two': 'c', via: '1.1 cattlegrid', host: 'shop.example' })
  })

  test('keeps its cache directives in both directions, whatever they mean to us', async () => {
    const path = scene.path({ fields: { 'Cache-Control': 'private, x-own="a, b"', Expires: '0', Pragma: 'x' } })
    const fields = { 'Cache-Control': 'no-cache, x-mine', Pragma: 'no-cache' }
    const answer = await scene.ask(path, { fields })
    expect(scene.arrived(path)[0]?.headers).toMatchObject({ 'cache-control': 'no-cache, x-mine', pragma: 'no-cache' })
    expect(['cache-control', 'expires', 'pragma'].map((name) => answer.field(name))).toEqual([
      'private, x-own="a, b"',
      '0',
      'x',
    ])
  })

  test('gets nothing of Express’ own', async () => {
    const path = scene.path({ fields: { 'Cache-Control': 'no-store' } })
    const answer = await scene.ask(path)
    expect(answer.field('x-powered-by')).toBeUndefined()
    expect(answer.field('etag')).toBeUndefined()
  })

  test('loses its hop-by-hop fields in both directions, named or not', async () => {
    const path = scene.path({
      fields: {
        Connection: 'X-Hop, close',
        'X-Hop': '1',
        'Keep-Alive': 'timeout=9',
        'Proxy-Connection': 'x',
        Upgrade: 'h2c',
      },
    })
    const fields = { Connection: 'close, X-Mine', 'X-Mine': '1', TE: 'trailers', 'Keep-Alive': '9' }
    const answer = await scene.ask(path, { method: 'POST', fields })
    for (const name of ['x-hop', 'keep-alive', 'proxy-connection', 'upgrade'])
      expect([name, answer.field(name)]).toEqual([name, undefined])
    const { headers } = scene.arrived(path)[0] ?? { headers: {} }
    for (const name of ['x-mine', 'te', 'keep-alive']) expect(headers).not.toHaveProperty(name)
  })

  test('keeps what it cannot be understood without, whatever Connection says', () => {
    const raw = ['Host', 'a', 'Content-Length', '3', 'Connection', 'Host, content-length, X']
    expect(fieldsForNextHop([...raw, 'X', '1'], '1.1')).toEqual([
      'Host',
      'a',
      'Content-Length',
      '3',
      'Via',
      '1.1 cattlegrid',
    ])
  })

  test('may be chunked, and have trailers, in either direction', async () => {
    const path = scene.path((_req, res) => {
      res.writeHead(200, { Trailer: 'X-Sum' })
      res.write('one ')
      res.addTrailers({ 'X-Sum': '7' })
      res.end('two')
    })
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
    const answer = await askRaw(scene.port, `${head}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`)
    expect(answer).toMatchObject({ status: 200, body: 'one two', cutOff: false })
    expect(scene.arrived(path)[0]?.body).toBe('abcde')
  })

  test('has an origin-form target, whatever form it came in', async () => {
    const path = scene.path({})
    await askRaw(
      scene.port,
      `POST http://elsewhere${path}?a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    )
    expect(scene.arrived(path)[0]?.target).toBe(`${path}?a`)
  })
})

describe('an exchange that breaks off', () => {
  test('in the middle of the answer is broken off for the client too, and not stored', async () => {
    const path = scene.path(
      (_req, res) => {
        res.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': '10' })
        res.write('half', () => res.destroy())
      },
      { fields: { 'Cache-Control': 'max-age=60' }, body: 'whole' },
    )
    expect(await scene.ask(path)).toMatchObject({ cutOff: true })
    expect(await scene.ask(path)).toMatchObject({ body: 'whole', cutOff: false })
  })

  test('on a connection that was kept is repeated once, on another, where that does no harm', async () => {
    const breaks: Step = (req) => req.socket.destroy()
    const ready = scene.path({ fields: { 'Cache-Control': 'no-store' } })
    for (const [method, times] of [
      ['GET', 2],
      ['POST', 1],
    ] as const) {
      // So that there is a connection that was kept.
      await scene.ask(ready, { method: 'POST' })
      const path = scene.path(breaks)
      expect((await scene.ask(path, { method })).status).toBe(504)
      expect([method, scene.arrived(path).length]).toEqual([method, times])
    }
  })

  test('by the client is broken off for the origin too', async () => {
    let gone: Promise<unknown> = Promise.resolve()
    const begun = new Promise<void>((resolve) => {
      scene.origin.script('/slow', [
        (_req, res) => {
          gone = once(res, 'close')
          res.write('x')
          resolve()
        },
      ])
    })
    const socket = connect(scene.port, '127.0.0.1')
    socket.write('POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await begun
    await once(socket, 'data')
    socket.destroy()
    await gone
    expect(scene.arrived('/slow')).toHaveLength(1)
  })
})
