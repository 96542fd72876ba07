import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { RouteHandlerMethod } from 'fastify'
import { cache, withApp } from './support/cached-app.ts'

test.each([
  ['nothing', undefined],
  ['something else', 'other'],
])(
  'an async handler that sends its response and returns %s has sent it, also while an asynchronous onSend hook holds it',
  async (_title, returned) => {
    await withApp(async ({ app, bodies }) => {
      app.addHook('onSend', async (_request, _reply, payload) => {
        await turn()
        return `${String(payload)}!`
      })
      app.get('/a', { config: { cache } }, async (_request, reply) => {
        void reply.send('sent')
        return returned
      })
      expect(await bodies('/a', 3)).toEqual(['sent!', 'sent!', 'sent!'])
    })
  },
)

test.each<readonly [string, RouteHandlerMethod]>([
  ['sends twice', (_request, reply) => void reply.send('first').send('second')],
  ['sends twice, with another status', (_request, reply) => void reply.send('first').code(203).send('second')],
  [
    'sends a stream and a text',
    (_request, reply) =>
      void reply
        .type('text/plain')
        .send(Readable.from(['first']))
        .send('second'),
  ],
  [
    'sends and throws',
    async (_request, reply) => {
      void reply.send('first')
      throw Object.assign(new Error('second'), { statusCode: 404 })
    },
  ],
])(
  'of a handler that %s while an asynchronous onSend hook holds the first payload, nothing is stored',
  async (_title, handler) => {
    await withApp(async ({ app, bodies }) => {
      app.addHook('onSend', async (_request, _reply, payload) => {
        await turn()
        return payload
      })
      app.get('/a', { config: { cache } }, handler)
      expect(await bodies('/a', 3)).toEqual(['first', 'first', 'first'])
    })
  },
)

test('the error page that replaces a stream which failed before its first byte is stored', async () => {
  let runs = 0
  await withApp(async ({ app, bodies }) => {
    app.get('/a', { config: { cache } }, (_request, reply) => {
      runs += 1
      const failed = new Readable({ read: () => failed.destroy(Object.assign(new Error('none'), { statusCode: 404 })) })
      void reply.type('text/plain').send(failed)
    })
    const [first, ...others] = await bodies('/a', 3)
    expect(others).toEqual([first, first])
    expect(runs).toBe(1)
  })
})
