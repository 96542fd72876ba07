import { describe, expect, test } from '@jest/globals'
import { PassThrough, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { ask } from '../../../test/wire.ts'
import { cache, listen, withApp } from './support/cached-app.ts'

const CONDITION = { headers: { 'if-none-match': '"v1"' } }

describe('the head of a response that hooks after ours change', () => {
  test.each([
    ['a stream of it', (text: string) => Readable.from([text])],
    ['a slow stream of it', (text: string) => Readable.from([text]).pipe(new PassThrough())],
    ['its bytes', (text: string) => Buffer.from(text)],
  ])(
    'a client with a condition gets the head before the body where a hook after ours turns a text into %s',
    async (_made, make) => {
      await withApp(async ({ app }) => {
        app.addHook('onSend', async (_request, _reply, payload) =>
          typeof payload === 'string' ? make(payload) : payload,
        )
        app.get('/page', { config: { cache } }, async () => 'one')
        const port = await listen(app)
        for (const path of ['/page', '/page'])
          expect(await ask(port, path, CONDITION)).toMatchObject({ status: 200, body: Buffer.from('one') })
      })
    },
  )

  test('a hit that a hook after ours writes itself is framed as the first response', async () => {
    await withApp(async ({ app }) => {
      app.addHook('onSend', async (_request, reply, payload) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'x-by': 'hook' })
        reply.raw.write('raw ')
        reply.raw.end(payload)
        return payload
      })
      app.get('/page', { config: { cache } }, async () => 'one')
      const port = await listen(app)
      for (let turn = 0; turn < 3; turn += 1) {
        const { headers, body } = await ask(port, '/page')
        expect([headers['transfer-encoding'], body.toString()]).toEqual(['chunked', 'raw one'])
      }
    })
  })

  test('a head that Node refuses only once a hook has changed it ends no process where the client has a condition', async () => {
    await withApp(async ({ app }) => {
      app.addHook('onSend', async (_request, reply) => {
        reply.raw.setHeader('trailer', 'x-sum')
      })
      app.get('/page', { config: { cache } }, async () => 'one')
      app.get('/plain', async () => 'one')
      const port = await listen(app)
      const plain = await ask(port, '/plain', CONDITION)
      expect(await ask(port, '/page', CONDITION)).toMatchObject({ status: plain.status })
    })
  })

  test('a handler that takes the response over, and writes without a head, has the head before its bytes', async () => {
    await withApp(async ({ app }) => {
      app.addHook('onSend', async (_request, _reply, payload) => payload)
      const ways: Record<string, (reply: FastifyReply) => unknown> = {
        '/write': ({ raw }) => (raw.write('o'), raw.end('ne')),
        '/end': ({ raw }) => raw.end('one'),
        '/flush': ({ raw }) => (raw.flushHeaders(), raw.end('one')),
      }
      for (const [path, write] of Object.entries(ways))
        app.get(path, { config: { cache } }, (_request, reply) => {
          reply.send('one')
          write(reply)
        })
      const port = await listen(app)
      for (const path of Object.keys(ways))
        expect(await ask(port, path, CONDITION)).toMatchObject({ status: 200, body: Buffer.from('one') })
    })
  })
})
