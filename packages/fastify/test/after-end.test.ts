import { describe, expect, test } from '@jest/globals'
import type { FastifyReply } from 'fastify'
import { listen, withApp } from './support/cached-app.ts'
import { onHttp2 } from './support/http2-site.ts'

/** What a handler does with Node's response after it has ended it. */
const LATE: readonly (readonly [string, (raw: FastifyReply['raw']) => void])[] = [
  ['ends it again', (raw) => void raw.end('late')],
  ['writes', (raw) => void raw.write('late')],
]

/** Nobody listens for `error`: an event of that name would end the process, and here fails the test. */
describe.each(LATE)('a handler that ends its response and then %s', (_, late) => {
  test('changes nothing', async () => {
    await withApp(async ({ app }) => {
      app.get('/a', { config: { cache: { ttl: '1m' } } }, (_request, reply) => {
        reply.send('page')
        late(reply.raw)
      })
      app.get('/raw', { config: { cache: { ttl: '1m' } } }, (_request, reply) => {
        reply.raw.end('page')
        late(reply.raw)
      })
      const port = await listen(app)
      for (const path of ['/a', '/a', '/raw', '/raw'])
        expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toBe('page')
    })
  })

  test('changes nothing over HTTP/2', async () => {
    await onHttp2(
      (_request, reply) => {
        reply.hijack()
        reply.raw.end('page')
        late(reply.raw as unknown as FastifyReply['raw'])
      },
      async ({ ask }) => {
        expect((await ask('/page')).text).toBe('page')
        expect((await ask('/page')).text).toBe('page')
      },
    )
  })
})
