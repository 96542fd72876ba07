import { describe, expect, test } from '@jest/globals'
import { type Ask, CLEAN, verdict } from './raw-client.ts'
import { type Page, plain, type Reply, type Seen, type ShopOptions } from './shop.ts'
import { FRAMEWORKS, gate, onStage } from './stage.ts'

type Field = readonly [string, string]

const cache = { ttl: '1m' } as const
const to = (target: string, ...fields: readonly Field[]): Ask => ({ target, fields })

describe.each(FRAMEWORKS)('other methods on %s', (framework) => {
  /** As `method-override` does it, before the router. */
  const overriding: Partial<ShopOptions> = {
    prepare: (app) =>
      app.use((req, _res, next) => {
        const wanted = req.headers['x-http-method-override']
        if (typeof wanted === 'string') Object.assign(req, { originalMethod: req.method, method: wanted })
        next()
      }),
  }
  const obedient: Page['handle'] = ({ method, headers }, run) => {
    const wanted = headers['x-http-method-override'] ?? headers['x-http-method'] ?? headers['x-method-override']
    return (wanted ?? method) === 'GET' ? plain({} as Seen, run) : { status: 405, body: 'evil method' }
  }

  test.each<readonly [string, Ask]>([
    ['X-HTTP-Method-Override', to('/page', ['X-HTTP-Method-Override', 'DELETE'])],
    ['X-HTTP-Method', to('/page', ['x-HTTP-method', 'PUT'])],
    ['X-Method-Override', to('/page', ['X-Method-Override', 'POST'], ['X-Method-Override', 'GET'])],
    ['a HEAD that is called GET', { ...to('/page', ['X-HTTP-Method-Override', 'GET']), method: 'HEAD' }],
    [
      'a POST that is called GET',
      { ...to('/page', ['X-HTTP-Method-Override', 'GET'], ['Content-Length', '0']), method: 'POST' },
    ],
  ])('%s makes nobody’s page but its client’s, before and after there is an entry', async (_, request) => {
    // Also where nothing hides the fields from the handler.
    for (const [scrub, options] of [
      [true, {}],
      [true, overriding],
      [false, {}],
    ] as const)
      await onStage(
        framework,
        [{ path: '/page', cache: { ...cache, scrub }, handle: obedient }],
        async (stage) => {
          await stage.ask(request)
          const { status, body } = await stage.get('/page')
          expect([status, body.includes('evil')]).toEqual([200, false])
          await stage.ask(request)
          expect((await stage.get('/page')).body).toBe(body)
        },
        options,
      )
  })
})

describe.each(FRAMEWORKS)('a GET with a body on %s', (framework) => {
  test.each<readonly [string, Ask]>([
    ['with a length', { ...to('/page', ['Content-Length', '4']), body: 'evil' }],
    ['in chunks', { ...to('/page', ['Transfer-Encoding', 'chunked']), body: '4\r\nevil\r\n0\r\n\r\n' }],
    [
      'that is a request itself',
      { ...to('/page', ['Content-Length', '44']), body: 'GET /evil HTTP/1.1\r\nHost: shop.example\r\n\r\n..' },
    ],
    ['announced by Expect', { ...to('/page', ['Content-Length', '4'], ['Expect', '100-continue']), body: 'evil' }],
  ])('a body %s is read by nobody: one answer on the connection, and nobody’s entry', async (_, request) => {
    let strays = 0
    const stray: Page['handle'] = () => {
      strays += 1
      return { body: 'evil' }
    }
    const pages = [
      { path: '/page', cache, handle: plain },
      { path: '/evil', cache, handle: stray },
    ]
    await onStage(framework, pages, async (stage) => {
      // Before there is an entry, and after.
      for (let turn = 0; turn < 2; turn += 1) {
        const connection = await stage.open()
        connection.write(request)
        expect((await connection.next()).status).toBe(200)
        connection.write({ target: '/page' })
        expect(verdict(await connection.next())).toEqual(CLEAN)
        expect(connection.left).toBe('')
        connection.leave()
        expect((await stage.get('/page')).body).toBe('run 2')
      }
      expect(strays).toBe(0)
      expect(stage.count('commit')).toBe(1)
    })
  })
})

/** Answers as a file server does: by range and condition, as it finds them. */
function file({ headers, method }: Seen, run: number): Reply {
  const etag = { etag: '"v1"', 'x-run': String(run) }
  if (headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined)
    return { status: 304, headers: etag }
  if (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined)
    return { status: 412, headers: etag }
  if (headers.range === 'bytes=99-') return { status: 416, headers: { 'content-range': 'bytes */4' } }
  if (headers.range !== undefined)
    return { status: 206, headers: { ...etag, 'content-range': 'bytes 0-0/4' }, body: 'f' }
  return { headers: etag, body: method === 'HEAD' ? '' : 'file' }
}

describe.each(FRAMEWORKS)('parts and conditions on %s', (framework) => {
  test.each<readonly [string, readonly Field[]]>([
    ['Range', [['Range', 'bytes=0-0']]],
    ['a range that cannot be had', [['Range', 'bytes=99-']]],
    [
      'Range in any case, twice',
      [
        ['rANGE', 'bytes=0-0'],
        ['Range', 'bytes=99-'],
      ],
    ],
    ['If-None-Match: *', [['If-None-Match', '*']]],
    ['If-None-Match of the entry', [['If-None-Match', '"v1"']]],
    ['If-Modified-Since in the future', [['If-Modified-Since', 'Fri, 01 Jan 2100 00:00:00 GMT']]],
    ['If-Match', [['If-Match', '"other"']]],
    ['If-Unmodified-Since in the past', [['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT']]],
    [
      'If-Range',
      [
        ['If-Range', '"other"'],
        ['Range', 'bytes=0-0'],
      ],
    ],
    ['nothing of the kind', []],
  ])('%s of a first client that asks by GET or HEAD leaves the whole for all others', async (_, fields) => {
    for (const method of ['GET', 'HEAD']) {
      const door = gate()
      const handle: Page['handle'] = async (seen, run) => {
        await door.opened
        return file(seen, run)
      }
      await onStage(framework, [{ path: '/file', cache, handle }], async (stage) => {
        void stage.ask({ ...to('/file', ...fields), method })
        await stage.seen('load', 1)
        const waiting = [stage.get('/file'), stage.get('/file')]
        await stage.seen('join', 2)
        door.open()
        for (const { status, body } of [...(await Promise.all(waiting)), await stage.get('/file')])
          expect([status, body]).toEqual([200, 'file'])
        const head = await stage.ask({ method: 'HEAD', target: '/file' })
        expect([head.status, head.fields['content-length'], head.fields['x-run']]).toEqual([200, ['4'], ['1']])
      })
    }
  })
})

/** A handler that fails on what it did not expect. */
function fragile({ lines, headers }: Seen, run: number): Reply {
  if (lines.join('').length > 4000) return { status: 400, body: 'evil: too much' }
  if (headers['x-meta'] !== undefined) return { status: 500, body: 'evil: what is this?' }
  return { body: `run ${run}` }
}

describe.each(FRAMEWORKS)('messages that break something on %s', (framework) => {
  test.each<readonly [string, Ask]>([
    ['an oversized field', to('/page', ['X-Oversized', 'evil'.repeat(2000)])],
    [
      'too many fields',
      to('/page', ...Array.from({ length: 400 }, (_, index) => [`X-${index}`, 'evil evil evil'] as const)),
    ],
    [
      'too many cookies',
      to('/page', ['Cookie', Array.from({ length: 900 }, (_, index) => `c${index}=evil`).join('; ')]),
    ],
    ['fields beyond what Node reads', to('/page', ['X-Oversized', 'evil'.repeat(8000)])],
  ])('%s: the error page is its own client’s', async (_, request) => {
    await onStage(framework, [{ path: '/page', cache, handle: fragile }], async (stage) => {
      expect((await stage.ask(request)).status).toBeGreaterThanOrEqual(400)
      expect(verdict(await stage.get('/page'))).toEqual(CLEAN)
      const entry = (await stage.get('/page')).body
      expect([CLEAN.status, 431]).toContain((await stage.ask(request)).status)
      expect((await stage.get('/page')).body).toBe(entry)
    })
  })

  test('a field that the handler fails on breaks no page that is stored, and blocks a cold one no longer than it cools', async () => {
    await onStage(framework, [{ path: '/page', cache, handle: fragile }], async (stage) => {
      expect((await stage.ask(to('/page', ['X-Meta', 'evil']))).status).toBe(500)
      const meanwhile = await stage.get('/page')
      expect([meanwhile.status, meanwhile.fields['retry-after']]).toEqual([503, ['1']])
      expect(meanwhile.raw).not.toContain('evil')
      await stage.runtime.advance(2000)
      expect(verdict(await stage.get('/page'))).toEqual(CLEAN)
      expect(verdict(await stage.ask(to('/page', ['X-Meta', 'evil'])))).toEqual(CLEAN)
    })
  })

  const head = 'GET /page HTTP/1.1\r\nHost: shop.example\r\n'
  const smuggled = 'GET /evil HTTP/1.1\r\nHost: shop.example\r\n\r\n'
  test.each<readonly [string, string]>([
    ['NUL in a field', `${head}Cache-Control: no-\0cache\r\n\r\n`],
    ['a control character in a field', `${head}X-A: \x01evil\r\n\r\n`],
    ['a field that goes on in the next line', `${head}Cache-Control: max-age=0,\r\n no-cache: evil\r\n\r\n`],
    ['a blank before the colon', `${head}X-Host : evil\r\n\r\n`],
    ['two lengths', `${head}Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
    ['a length and chunks', `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunks by another name', `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunks and more', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a length that is no number', `${head}Content-Length: 0x5\r\n\r\n${smuggled}`],
    ['no Host', `GET /page HTTP/1.1\r\n\r\n`],
    ['a method in small letters', `get /page HTTP/1.1\r\nHost: shop.example\r\n\r\n`],
    ['a version that is none', `GET /page HTTP/9.9\r\nHost: shop.example\r\n\r\n`],
    ['an expectation that nobody meets', `${head}Expect: evil\r\n\r\n`],
  ])('%s is refused by Node, and nothing behind it is a request', async (_, bytes) => {
    let strays = 0
    const stray: Page['handle'] = () => ({ body: `evil ${(strays += 1)}` })
    const pages = [
      { path: '/page', cache, handle: plain },
      { path: '/evil', cache, handle: stray },
    ]
    await onStage(framework, pages, async (stage) => {
      expect((await stage.ask(bytes)).status).toBeGreaterThanOrEqual(400)
      expect(verdict(await stage.get('/page'))).toEqual(CLEAN)
      expect([strays, stage.count('commit')]).toEqual([0, 1])
    })
  })

  test('an HTTP/1.0 leader leaves nothing of its connection in the entry', async () => {
    await onStage(framework, [{ path: '/page', cache, handle: plain }], async (stage) => {
      await stage.ask({ target: '/page', version: '1.0', fields: [['Connection', 'close']] })
      const connection = await stage.open()
      for (const _ of [1, 2]) {
        connection.write({ target: '/page' })
        const { body, fields } = await connection.next()
        expect([body, fields['connection'], fields['content-length']]).toEqual(['run 1', ['keep-alive'], ['5']])
      }
      connection.leave()
    })
  })
})
