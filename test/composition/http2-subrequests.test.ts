import { describe, expect, test } from '@jest/globals'
import { eventsDuring } from '../../packages/testkit/src/adapter-contract/warnings.ts'
import { onHttp2 } from '../../packages/fastify/test/support/http2-site.ts'

describe('a subrequest behind a request over HTTP/2', () => {
  test('a refresh, and the GET behind a HEAD, has what every request over HTTP/2 has', async () => {
    const seen: unknown[] = []
    await onHttp2(
      ({ raw: { authority, scheme, url, httpVersion, headers, rawHeaders } }, reply) => {
        const { ':authority': named, ':scheme': other, ':path': path, ':method': method, host } = headers
        const rawNames = rawHeaders.filter((_, index) => index % 2 === 0).filter((name) => name.startsWith(':'))
        const { id, pushAllowed, destroyed } = reply.raw.stream
        seen.push([typeof id, typeof pushAllowed, destroyed])
        return JSON.stringify({
          authority,
          scheme,
          url,
          httpVersion,
          named,
          other,
          path,
          method,
          host,
          raw: rawNames.toSorted(),
        })
      },
      async ({ ask, seen: happened, runtime }) => {
        const client = { ':authority': 'shop.example' }
        await ask('/page', { ...client, ':method': 'HEAD' })
        const filled = await ask('/page', client)
        await runtime.advance(11_000)
        await ask('/page', client)
        await happened('outcome', 2)
        const refreshed = await ask('/page', client)
        expect(JSON.parse(filled.text)).toEqual({
          authority: 'shop.example',
          scheme: 'http',
          url: '/page',
          httpVersion: '2.0',
          named: 'shop.example',
          other: 'http',
          path: '/page',
          method: 'GET',
          host: 'shop.example',
          raw: [':authority', ':method', ':path', ':scheme'],
        })
        expect(refreshed.text).toBe(filled.text)
        expect(seen).toEqual([1, 2].map(() => ['number', 'boolean', false]))
      },
      { staleWhileRevalidate: '1m' },
    )
  })

  test('a fixed host is the authority that a refresh shows to its handler', async () => {
    await onHttp2(
      ({ raw: { authority, headers } }) => JSON.stringify([authority, headers.host]),
      async ({ ask, seen, runtime }) => {
        const client = { ':authority': 'other.example' }
        const texts = [(await ask('/page', client)).text]
        await runtime.advance(11_000)
        await ask('/page', client)
        await seen('outcome', 2)
        texts.push((await ask('/page', client)).text)
        expect(texts).toEqual(Array(2).fill('["shop.example","shop.example"]'))
      },
      { staleWhileRevalidate: '1m', key: { host: 'shop.example' }, hosts: ['other.example'] },
    )
  })

  test('a handler that responds on the stream itself answers HEAD by its own, and rejects a refresh', async () => {
    let byHand = true
    await onHttp2(
      ({ raw: { method } }, reply) => {
        if (!byHand) return 'by Fastify'
        reply.hijack()
        reply.raw.stream.respond({ ':status': 200, 'x-method': method })
        reply.raw.stream.end('by hand')
        return reply
      },
      async ({ ask, seen, runtime }) => {
        expect((await ask('/page', { ':method': 'HEAD' })).head).toMatchObject({ ':status': 200, 'x-method': 'HEAD' })
        expect((await ask('/page')).text).toBe('by hand')
        byHand = false
        await runtime.advance(11_000)
        expect((await ask('/page')).text).toBe('by Fastify')
        byHand = true
        await runtime.advance(11_000)
        const rejected = await eventsDuring('cattlegrid:refresh-rejected', async () => {
          expect((await ask('/page')).text).toBe('by Fastify')
          await seen('outcome', 4)
        })
        expect(rejected).toMatchObject([{ why: 'hijacked' }])
        expect((await ask('/page')).text).toBe('by Fastify')
      },
      { staleWhileRevalidate: '1m' },
    )
  })

  test('a handler that pushes without asking whether it may finds, in a refresh, that its client takes no pushes', async () => {
    const pushed: unknown[] = []
    await onHttp2(
      (_request, reply) => {
        try {
          reply.raw.createPushResponse({ ':path': '/style.css' }, () => undefined)
          pushed.push('pushed')
        } catch (error) {
          pushed.push(Reflect.get(error as object, 'code'))
        }
        return `page ${pushed.length}`
      },
      async ({ ask, seen, runtime }) => {
        await ask('/page')
        await runtime.advance(11_000)
        await ask('/page')
        await seen('outcome', 2)
        expect((await ask('/page')).text).toBe('page 2')
        expect(pushed).toEqual(['pushed', 'ERR_HTTP2_PUSH_DISABLED'])
      },
      { staleWhileRevalidate: '1m' },
    )
  })
})
