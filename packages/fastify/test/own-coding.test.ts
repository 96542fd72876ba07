import compress from '@fastify/compress'
import { expect, test } from '@jest/globals'
import { cache, withApp } from './support/cached-app.ts'

test('a coding that reply.compress chooses is for its own clients, though a hook outside says Vary first', async () => {
  await withApp(
    async ({ app }) => {
      app.addHook('onRequest', async (_request, reply) => {
        reply.header('vary', 'accept-encoding')
      })
      app.get('/page', { config: { cache } }, async (_request, reply) =>
        reply.type('text/plain').compress('a text '.repeat(500)),
      )
      for (const accepted of ['gzip', 'identity', 'gzip', 'identity']) {
        const { headers } = await app.inject({ url: '/page', headers: { 'accept-encoding': accepted } })
        expect(headers['content-encoding']).toBe(accepted === 'gzip' ? 'gzip' : undefined)
      }
    },
    { early: (app) => app.register(compress, { global: false }) },
  )
})
