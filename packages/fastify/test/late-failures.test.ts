import { describe, expect, test } from '@jest/globals'
import type { FastifyReply } from 'fastify'
import { listen, withApp } from './support/cached-app.ts'

const FAILURES: readonly (readonly [string, (reply: FastifyReply) => void])[] = [
  [
    'throws',
    () => {
      throw new Error('too late')
    },
  ],
  ['destroys the response', ({ raw }) => void raw.destroy()],
  ['destroys the connection', ({ request }) => void request.socket.destroy()],
]

describe.each(FAILURES)('a handler that %s after it has sent its response', (_, fail) => {
  test.each([
    ['500', { staleIfError: '1m' }],
    ['304', { revalidate: true }],
  ] as const)('leaves its client the stored response in the place of its %s', async (status, options) => {
    await withApp(async ({ app, runtime }) => {
      let runs = 0
      app.get('/a', { config: { cache: { ttl: '1s', softTimeout: false, ...options } } }, async (_request, reply) => {
        runs += 1
        reply.header('etag', '"1"')
        if (runs === 1) return 'one'
        reply.code(Number(status)).send(status === '304' ? undefined : 'broken')
        fail(reply)
        return reply
      })
      const url = `http://127.0.0.1:${await listen(app)}/a`
      await (await fetch(url)).text()
      await runtime.advance(1001)
      expect(await (await fetch(url)).text()).toBe('one')
    })
  })
})
