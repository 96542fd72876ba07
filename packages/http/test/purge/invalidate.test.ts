import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cache } from '@cattlegrid/core'
import { systemRuntime } from '@cattlegrid/core/extend'
import { expect, test } from '@jest/globals'
import { invalidateAfter } from '../../src/purge/invalidate.ts'
import { TestExchange } from '../support/exchange.ts'

/** One POST to a handler, with a cache whose invalidations take until `let go`. */
async function post(
  handle: (res: ServerResponse) => void,
  invalidateTags: Cache['invalidateTags'],
  keyedHost?: string | false,
): Promise<IncomingMessage> {
  const server = createServer((_, res) => {
    const keyRule = { headers: [], cookies: [], host: keyedHost }
    invalidateAfter(new TestExchange({}, {}, res), {
      cache: { invalidateTags, runtime: systemRuntime } as unknown as Cache,
      keyRule,
      query: { kind: 'all' },
    })
    handle(res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, method: 'POST', agent: false }, (res) => {
        res.resume().once('end', () => resolve(res))
      })
        .once('error', reject)
        .end()
    })
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test.each<[string, (res: ServerResponse) => void]>([
  ['at once', (res) => void res.end('done')],
  ['in parts', (res) => void (res.writeHead(201), res.write('do'), res.end('ne'))],
])('an answer that is sent %s ends only when its URL is out of the store', async (_, handle) => {
  let letGo = (): void => undefined
  let done = false
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const answered = post(handle, () => gate).then(({ statusCode = 0 }) => ({ statusCode, done }))
  // Long enough for an answer that does not wait.
  await new Promise((resolve) => setTimeout(resolve, 100))
  done = true
  letGo()
  expect(await answered).toEqual({ statusCode: expect.any(Number), done: true })
})

test('a store that does not answer is no fault of the request', async () => {
  const { statusCode } = await post(
    (res) => void res.end('done'),
    () => Promise.reject(new Error('away')),
  )
  expect(statusCode).toBe(200)
})

test('what an answer names is taken as the same host’s only where it is', async () => {
  const tags: string[] = []
  const note = (given: readonly string[]): Promise<void> => {
    tags.push(...given)
    return Promise.resolve()
  }
  const named = (location: string) => (res: ServerResponse) => void res.writeHead(201, { location }).end()
  await post(named('/b'), note)
  await post(named('http://shop.test/b'), note)
  await post(named('//evil.example/b'), note)
  await post(named('http://%'), note)
  const [own, b] = tags
  expect(tags).toEqual([own, b, own, b, own, own])
})

test.each([
  ['shop.fixed', ['http://shop.fixed/b', 'http://SHOP.fixed:80/b', 'http://shop.test/b', '/b'], true],
  ['shop.fixed', ['https://shop.fixed/b', 'http://shop.fixed:81/b', 'http://evil.example/b'], false],
  [false, ['http://shop.test/b'], true],
  [false, ['http:///b', 'http://evil.example/b'], false],
] as const)('with %s for the host in the key, one that names %j is the same origin: %s', async (host, urls, same) => {
  for (const location of urls) {
    let tags: readonly string[] = []
    const note = async (given: readonly string[]): Promise<void> => {
      tags = given
    }
    await post((res) => void res.writeHead(201, { location }).end(), note, host)
    expect([location, tags.length]).toEqual([location, same ? 2 : 1])
  }
})
