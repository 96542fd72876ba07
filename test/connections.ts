// What a cached route owes connections, whichever framework it is of: one suite, which each adapter runs over its own server.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as later } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { answersIn, ask, exchange } from './wire.ts'

/** An answer to a page. A streamed one goes out in two chunks, its length unknown. */
export interface Page {
  readonly body: string
  readonly streamed?: boolean
  /** The handler closes the connection instead. */
  readonly hangsUp?: boolean
  readonly fields?: Readonly<Record<string, string>>
}

/** A server with a cached route `/:page`. */
export interface PageServer {
  readonly port: number
  /** Resolves when the cache has seen so many of it. */
  seen(step: 'load' | 'join', times: number): Promise<void>
}

/** Starts a server whose route answers what `page` says, plays, and stops it. */
export type OnPages = (
  page: (path: string) => Promise<Page> | Page,
  play: (server: PageServer) => Promise<void>,
) => Promise<void>

const LAST = 'Connection: close\r\n'

const line = (method: string, path: string, more: string = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: shop\r\n${more}\r\n`

const streamed = (path: string): Page => ({ body: `streamed ${path}`, streamed: true })

/** What a connection that is kept answers: the text, its own word on the connection, and the port of its client. */
async function askBy(agent: Agent, port: number, method: string, path: string): Promise<readonly unknown[]> {
  const asking = request({ host: '127.0.0.1', port, path, method, agent, headers: { host: 'shop' } }).end()
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  const { localPort } = response.socket
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return [text, response.headers.connection, localPort]
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Declares the suite. */
export function describeConnections(onPages: OnPages): void {
  describe('a client of HTTP/1.0', () => {
    test('gets whole answers without chunks: at the miss, as a follower of 1.1, at a hit, and for HEAD', async () => {
      const door = gate()
      await onPages(
        async (path) => {
          await door.opened
          return streamed(path)
        },
        async ({ port, seen }) => {
          const old = (method: string, path: string): Promise<string> =>
            exchange(port, `${method} ${path} HTTP/1.0\r\nHost: shop\r\n\r\n`)
          const leader = old('GET', '/a')
          await seen('load', 1)
          const modern = ask(port, '/b')
          await seen('load', 2)
          const follower = old('GET', '/b')
          await seen('join', 1)
          door.open()
          expect((await modern).body.toString()).toBe('streamed /b')
          const texts = [await leader, await follower, await old('GET', '/a'), await old('HEAD', '/b')]
          const answers = texts.map((text, index) => answersIn(text, [index === 3 ? 'HEAD' : 'GET'])[0])
          expect(answers.map((answer) => [answer?.status, answer?.text])).toEqual([
            [200, 'streamed /a'],
            [200, 'streamed /b'],
            [200, 'streamed /a'],
            [200, ''],
          ])
          for (const answer of answers) expect(answer?.fields).not.toHaveProperty('transfer-encoding')
          expect(answers.slice(1).map((answer) => answer?.fields['content-length'])).toEqual(['11', '11', '11'])
        },
      )
    })

    test('keeps its connection where it asks for that, and names no host', async () => {
      await onPages(
        (path) => ({ body: path }),
        async ({ port }) => {
          const keep = 'HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
          const text = await exchange(port, `GET /a ${keep}GET /a ${keep}GET /a HTTP/1.0\r\n\r\n`)
          expect(answersIn(text, ['GET', 'GET', 'GET']).map((answer) => answer.text)).toEqual(['/a', '/a', '/a'])
        },
      )
    })
  })

  describe('requests that are sent at once on one connection', () => {
    test('are answered in their order: misses, followers of each other, hits, HEAD, 304 and what is never kept', async () => {
      let runs = 0
      await onPages(
        async (path) => {
          runs += 1
          if (path === '/own') return { body: 'own', fields: { 'set-cookie': `visit=${runs}` } }
          if (path === '/late') await later(20)
          return streamed(path)
        },
        async ({ port }) => {
          const asked = [
            ['GET', '/late', ''],
            ['GET', '/a', ''],
            ['GET', '/late', ''],
            ['HEAD', '/a', ''],
            ['GET', '/own', ''],
            ['GET', '/a', 'If-None-Match: *\r\n'],
            ['GET', '/own', ''],
            ['GET', '/late', LAST],
          ] as const
          const text = await exchange(port, asked.map(([method, path, more]) => line(method, path, more)).join(''))
          const methods = asked.map(([method]) => method)
          const answers = answersIn(text, methods)
          expect(answers.map((answer) => [answer.status, answer.text])).toEqual([
            [200, 'streamed /late'],
            [200, 'streamed /a'],
            [200, 'streamed /late'],
            [200, ''],
            [200, 'own'],
            [304, ''],
            [200, 'own'],
            [200, 'streamed /late'],
          ])
          const cookies = answers.flatMap(({ fields }) => fields['set-cookie'] ?? [])
          expect([cookies.length, new Set(cookies).size]).toEqual([2, 2])
          expect(runs).toBe(4)
        },
      )
    })

    test('of which a later one leads for another client, are answered as soon as the earlier ones are', async () => {
      const door = gate()
      await onPages(
        async (path) => {
          if (path !== '/slow') return streamed(path)
          await door.opened
          return { body: 'slow' }
        },
        async ({ port, seen }) => {
          const pipelined = exchange(port, line('GET', '/slow') + line('GET', '/a', LAST))
          await seen('load', 2)
          // Its leader’s answer cannot go out before that of /slow; nobody else is to wait for that.
          expect((await ask(port, '/a')).body.toString()).toBe('streamed /a')
          door.open()
          expect(answersIn(await pipelined, ['GET', 'GET']).map(({ text }) => text)).toEqual(['slow', 'streamed /a'])
        },
      )
    })

    test('and abandoned: the handlers finish for the others', async () => {
      const door = gate()
      await onPages(
        async (path) => {
          await door.opened
          return { body: path }
        },
        async ({ port, seen }) => {
          const socket = connect(port, '127.0.0.1')
          socket.write(line('GET', '/a') + line('GET', '/b'))
          await seen('load', 2)
          const followers = ['/a', '/b'].map((path) => ask(port, path))
          await seen('join', 2)
          socket.resetAndDestroy()
          await once(socket, 'close')
          door.open()
          expect((await Promise.all(followers)).map(({ body }) => body.toString())).toEqual(['/a', '/b'])
        },
      )
    })
  })

  describe('requests that are sent at once on one connection, whose first handler hangs up', () => {
    test('end without an answer, and the handler of the second one finishes for the others', async () => {
      const [first, second] = [gate(), gate()]
      await onPages(
        async (path) => {
          await (path === '/a' ? first : second).opened
          return { body: path, hangsUp: path === '/a' }
        },
        async ({ port, seen }) => {
          const pipelined = exchange(port, line('GET', '/a') + line('GET', '/b'))
          await seen('load', 2)
          const follower = ask(port, '/b')
          await seen('join', 1)
          first.open()
          expect(await pipelined).toBe('')
          // The server, too, is to see the end of the connection first.
          await later(20)
          second.open()
          expect((await follower).body.toString()).toBe('/b')
        },
      )
    })
  })

  describe('a connection that is kept', () => {
    test('serves miss after hit after HEAD after an answer of its own, and is never ended by us', async () => {
      await onPages(
        (path) => (path === '/own' ? { body: 'own', fields: { 'cache-control': 'private' } } : streamed(path)),
        async ({ port }) => {
          const agent = new Agent({ keepAlive: true, maxSockets: 1 })
          try {
            const ports = new Set()
            for (const [method, path, wanted] of [
              ['GET', '/a', 'streamed /a'],
              ['GET', '/a', 'streamed /a'],
              ['HEAD', '/a', ''],
              ['HEAD', '/b', ''],
              ['GET', '/own', 'own'],
              ['GET', '/b', 'streamed /b'],
            ] as const) {
              const [text, connection, own] = await askBy(agent, port, method, path)
              expect([path, text, connection]).toEqual([path, wanted, 'keep-alive'])
              ports.add(own)
            }
            expect(ports.size).toBe(1)
          } finally {
            agent.destroy()
          }
        },
      )
    })
  })
}
