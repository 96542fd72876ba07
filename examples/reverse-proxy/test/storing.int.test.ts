import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RawRequest, readRaw } from './raw-client.ts'
import { openScene, type Scene } from './scene.ts'
import type { ScriptedAnswer } from './scripted-origin.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

/** Returns how many of two requests in a row reach the origin if the first gets this response. */
async function reaching(answer: ScriptedAnswer, request: RawRequest = {}): Promise<number> {
  const path = scene.path(answer, { fields: { 'Cache-Control': 'no-store' }, body: 'other' })
  await scene.ask(path, request)
  await scene.ask(path, request)
  return scene.arrived(path).length
}

const fresh = (cacheControl = 'max-age=60', more: Record<string, string> = {}): ScriptedAnswer => ({
  fields: { 'Cache-Control': cacheControl, ...more },
})

describe('an answer that may be stored', () => {
  test.each([
    200, 201, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 404, 405, 410, 414, 418, 451, 500, 501, 503, 599,
  ])('with status %d and a lifetime of its own is reused', async (status) => {
    expect(await reaching({ ...fresh(), status })).toBe(1)
  })

  test.each([
    'max-age=60',
    's-maxage=60',
    'public, max-age=60',
    'MAX-AGE=60',
    'max-age="60"',
    'unknown, max-age=60',
    'max-age=60, stale-if-error=5',
  ])('by Cache-Control: %s is reused', async (cacheControl) => {
    expect(await reaching(fresh(cacheControl))).toBe(1)
  })

  test('by Expires after Date is reused', async () => {
    const expires = new Date(Date.now() + 60_000).toUTCString()
    expect(await reaching({ fields: { Expires: expires } })).toBe(1)
  })

  test('is the final one: what was said before it goes to its own client alone', async () => {
    const path = scene.path((_req, res) => {
      res.writeEarlyHints({ link: '</style.css>; rel=preload' })
      res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('final')
    })
    const bytes = `GET ${path} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`
    expect(await readRaw(scene.port, bytes)).toMatch(/^HTTP\/1\.1 103 .*\r\nLink: <\/style\.css>/i)
    expect(await readRaw(scene.port, bytes)).toMatch(/^HTTP\/1\.1 200 /)
    expect((await scene.ask(path)).hit).toBe(true)
  })

  test('is reused with every field that it came with, also one that nobody knows', async () => {
    const path = scene.path({
      fields: { 'Cache-Control': 'max-age=60', 'X-New-Kind': ['a', 'b'], 'Content-Type': 'x/y', ETag: '"e"' },
      body: 'ab',
    })
    await scene.ask(path)
    const hit = await scene.ask(path)
    expect(hit).toMatchObject({ hit: true, status: 200, body: 'ab' })
    expect(hit.fields.get('x-new-kind')).toEqual(['a', 'b'])
    expect([hit.field('content-type'), hit.field('etag'), hit.field('via')]).toEqual(['x/y', '"e"', '1.1 cattlegrid'])
  })

  test('may say no-store to caches that do not understand its status', async () => {
    expect(await reaching(fresh('must-understand, no-store, max-age=60'))).toBe(1)
    expect(await reaching(fresh('must-understand, no-store, private, max-age=60'))).toBe(2)
  })

  test('is reused whatever its Pragma says', async () => {
    expect(await reaching(fresh('max-age=60', { Pragma: 'no-cache' }))).toBe(1)
  })
})

describe('an answer that may not be stored', () => {
  test.each([
    'no-store',
    'NO-STORE, max-age=60',
    'max-age=60, no-store',
    'private, max-age=60',
    'private="x-a", max-age=60',
    'no-cache, max-age=60',
    'no-cache="x-a", max-age=60',
  ])('because of Cache-Control: %s is asked for again', async (cacheControl) => {
    expect(await reaching(fresh(cacheControl))).toBe(2)
  })

  test('because a prohibition stands on another line is asked for again', async () => {
    expect(await reaching({ fields: { 'Cache-Control': ['max-age=60', 'no-store'] } })).toBe(2)
  })

  test('because it declares no lifetime is asked for again: none is guessed', async () => {
    expect(await reaching({ fields: { 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' } })).toBe(2)
  })

  test('because its lifetime is over when it comes is asked for again', async () => {
    expect(await reaching(fresh('max-age=60', { Age: '60' }))).toBe(2)
    expect(await reaching(fresh('max-age=0'))).toBe(2)
  })

  test('because it is a part is asked for again, and told as what it is', async () => {
    const part = { status: 206, fields: { 'Cache-Control': 'max-age=60', 'Content-Range': 'bytes 0-1/9' }, body: 'ab' }
    expect(await reaching(part, { fields: { Range: 'bytes=0-1' } })).toBe(2)
  })

  test('because it is an answer to POST, PUT or DELETE is asked for again', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) expect(await reaching(fresh(), { method })).toBe(2)
  })

  test('because its status must be understood and is not is asked for again', async () => {
    expect(await reaching({ ...fresh('must-understand, max-age=60'), status: 418 })).toBe(2)
    expect(await reaching({ ...fresh('must-understand, max-age=60'), status: 404 })).toBe(1)
    expect(await reaching({ ...fresh('must-understand, no-store, max-age=60'), status: 418 })).toBe(2)
  })

  test('because it sets a cookie is asked for again', async () => {
    expect(await reaching(fresh('max-age=60', { 'Set-Cookie': 'a=1' }))).toBe(2)
  })
})

describe('an answer that may be stored where none could be before', () => {
  test('is, from the next one on', async () => {
    const path = scene.path(fresh('no-store'), fresh())
    for (let count = 1; count <= 3; count += 1) await scene.ask(path)
    expect((await scene.ask(path)).hit).toBe(true)
  })
})

describe('fields that are not stored', () => {
  test('are those of the connection and of the client’s proxy', async () => {
    const hop = { Connection: 'X-Hop', 'X-Hop': '1', 'Proxy-Authenticate': 'Basic', 'Proxy-Authentication-Info': 'x' }
    const path = scene.path(fresh('max-age=60', hop))
    await scene.ask(path)
    const hit = await scene.ask(path)
    expect(hit.hit).toBe(true)
    for (const name of ['x-hop', 'proxy-authenticate', 'proxy-authentication-info'])
      expect([name, hit.field(name)]).toEqual([name, undefined])
  })

  test('are the trailers: none of them ever stands among the fields', async () => {
    const path = scene.path((_req, res) => {
      res.writeHead(200, { 'Cache-Control': 'max-age=60', Trailer: 'X-Sum' })
      res.write('a')
      res.addTrailers({ 'X-Sum': '7' })
      res.end()
    })
    await scene.ask(path)
    const second = await scene.ask(path)
    expect(second.hit).toBe(true)
    for (const name of ['x-sum', 'trailer']) expect([name, second.field(name)]).toEqual([name, undefined])
  })
})

describe('an answer to a request with credentials', () => {
  const fields = { Authorization: 'Basic YQ==' }

  test.each(['max-age=60', 'max-age=60, proxy-revalidate'])(
    'is nobody else’s with Cache-Control: %s',
    async (cacheControl) => {
      expect(await reaching(fresh(cacheControl), { fields })).toBe(2)
    },
  )

  test.each(['public, max-age=60', 's-maxage=60', 'must-revalidate, max-age=60'])(
    'is for everybody with credentials with Cache-Control: %s',
    async (cacheControl) => {
      const path = scene.path(fresh(cacheControl), fresh('no-store'))
      await scene.ask(path, { fields })
      const second = await scene.ask(path, { fields: { Authorization: 'Basic Yg==' } })
      expect(second.hit).toBe(true)
    },
  )
})
