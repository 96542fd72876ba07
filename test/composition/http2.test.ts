import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, createServer, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { describe, expect, test } from '@jest/globals'
import {
  compileRoute,
  httpCache,
  nextDeclaration,
  MiddlewareExchange,
  type RouteOptions,
  serve,
} from '@cattlegrid/http'

type Listener = (req: IncomingMessage, res: ServerResponse) => void
interface Options extends RouteOptions<IncomingMessage, ServerResponse> {
  /** A layer outside. */
  readonly outside?: Listener
}

interface Answer {
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Responds with all that a request over HTTP/2 says about its URL. */
function showUrl(req: IncomingMessage, res: ServerResponse): void {
  const { url, headers, rawHeaders } = req
  const { authority, scheme } = req as { authority?: unknown; scheme?: unknown }
  const { ':authority': named, ':path': path, ':scheme': other, host } = headers
  res.end(JSON.stringify({ url, authority, scheme, named, path, other, host, rawHeaders }))
}

/** A cached handler of Node over HTTP/2 in clear text. Sends the requests one after the other, 10 s apart. */
async function ask(
  handler: Listener,
  { outside, ...options }: Options,
  ...requests: readonly OutgoingHttpHeaders[]
): Promise<Answer[]> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const http = httpCache(cache)
  const route = compileRoute('cached', http, undefined, { ttl: '1h', cacheStatus: true, ...options })
  const declaration = nextDeclaration(http)
  const listener: Listener = (req, res) => {
    outside?.(req, res)
    serve(new ServerExchange(req, res, () => handler(req, res), declaration), route)
  }
  class ServerExchange extends MiddlewareExchange {
    dispatch(req: IncomingMessage, res: ServerResponse): void {
      listener(req, res)
    }
  }
  // Node's objects of HTTP/2 have what those of HTTP/1 have, as far as a handler is concerned.
  const server = createServer(listener as unknown as Parameters<typeof createServer>[1]).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  try {
    const answers: Answer[] = []
    for (const fields of requests) {
      const stream = session.request({ ':path': '/page', ':authority': 'shop.example', ...fields })
      const [head] = (await once(stream, 'response')) as [Answer['fields']]
      answers.push({ text: await text(stream), fields: head })
      await runtime.advance(10_000)
    }
    return answers
  } finally {
    session.destroy()
    server.close()
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

describe('a request over HTTP/2', () => {
  test('without Host has the host of its :authority: another authority has another entry', async () => {
    let runs = 0
    const answers = await ask((_req, res) => res.end(`run ${++runs}`), {}, {}, {}, { ':authority': 'other.example' })
    expect(answers.map((answer) => answer.text)).toEqual(['run 1', 'run 1', 'run 2'])
  })

  test('whose Host differs from its :authority passes uncached, and says so', async () => {
    let runs = 0
    const requests = [{ host: 'evil.example' }, { host: 'shop.example' }, { host: 'SHOP.example:80' }]
    const answers = await ask((_req, res) => res.end(`run ${++runs}`), {}, ...requests)
    expect(answers.map((answer) => answer.text)).toEqual(['run 1', 'run 2', 'run 2'])
    expect(answers[0]?.fields['cache-status']).toBe('cattlegrid; fwd=bypass; detail=authority')
  })

  test('shows its handler only the authority, the scheme and the path that the key holds', async () => {
    const fields = { ':path': '/page?utm=evil&page=2', ':scheme': 'evil', ':authority': 'SHOP.example:80' }
    const [answer] = await ask(showUrl, { query: ['page'] }, fields)
    const seen = JSON.parse(answer?.text ?? '') as Record<string, unknown>
    expect(seen).toMatchObject({ url: '/page?page=2', authority: 'shop.example', scheme: 'http' })
    expect(seen).toMatchObject({ named: 'shop.example', path: '/page?page=2', other: 'http' })
    expect(answer?.text).not.toMatch(/evil|SHOP|:80/)
  })

  test('gets a response without the fields of a connection, also from the cache', async () => {
    const handler: Listener = (_req, res) => {
      res.setHeader('x-made', 'yes')
      res.write('one ')
      res.end('page')
    }
    const [made, hit, head] = await ask(handler, {}, {}, {}, { ':method': 'HEAD' })
    expect([made?.text, hit?.text, head?.text]).toEqual(['one page', 'one page', ''])
    for (const { fields } of [hit, head].filter((answer) => answer !== undefined))
      expect(fields).toMatchObject({ ':status': 200, 'x-made': 'yes', 'content-length': '8' })
  })

  test.each<[string, Listener | undefined]>([
    ['', undefined],
    [
      ', and a layer outside delays its end',
      (_req, res) => {
        const end = res.end.bind(res) as (...args: unknown[]) => ServerResponse
        Reflect.set(res, 'end', (...args: unknown[]) => setImmediate(end, ...args) && res)
      },
    ],
  ])('gets the stale response whole where its handler fails%s', async (_what, outside) => {
    let broken = false
    const handler: Listener = (_req, res) => {
      if (broken) res.statusCode = 500
      res.end(broken ? 'a failure' : 'a page')
      broken = true
    }
    const route = { ttl: '1s', staleIfError: '1h' } as const
    const answers = await ask(handler, outside === undefined ? route : { ...route, outside }, {}, {})
    for (const answer of answers) expect([answer.fields[':status'], answer.text]).toEqual([200, 'a page'])
  })
})
