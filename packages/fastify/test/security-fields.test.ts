import cors, { type FastifyCorsOptions } from '@fastify/cors'
import helmet from '@fastify/helmet'
import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import { ask, type WireAnswer } from '../../../test/wire.ts'
import { cache, counter, listen, lock, stepsOf, withApp } from './support/cached-app.ts'

const ORIGINS = [undefined, 'https://one.example', 'https://two.example'] as const

const namesIn = (vary: unknown): readonly string[] =>
  String(vary)
    .split(',')
    .map((name) => name.trim().toLowerCase())

/** A plugin before ours or after it. */
const PLACES = ['before', 'after'] as const

async function withPlugin(
  place: (typeof PLACES)[number],
  plugin: (app: FastifyInstance) => unknown,
  play: Parameters<typeof withApp>[0],
): Promise<void> {
  await withApp(
    async (stage) => {
      if (place === 'after') await plugin(stage.app)
      await play(stage)
    },
    place === 'before' ? { early: (app) => void plugin(app) } : {},
  )
}

describe.each(PLACES)('@fastify/helmet registered %s the cache', (place) => {
  test('leader, followers, hits, HEAD and 304 each carry the policy of their own request', async () => {
    const door = lock()
    const origin = counter()
    const plugin = (app: FastifyInstance): unknown => {
      app.addHook('onRequest', async (_request, reply) => {
        // To compare it with: helmet hands its nonce to the reply.
        reply.header('x-asked', 'yes')
      })
      return app.register(helmet, { enableCSPNonces: true })
    }
    await withPlugin(place, plugin, async ({ app, cache: held }) => {
      app.addHook('preHandler', async (_request, reply) => {
        reply.header('x-nonce', reply.cspNonce.script)
      })
      app.get('/page', { config: { cache } }, async () => {
        await door.opened
        return origin.next()
      })
      const { seen } = stepsOf(held)
      const port = await listen(app)
      const waiting = [1, 2, 3, 4].map(() => ask(port, '/page'))
      await seen('join', 3)
      door.open()
      const answers = [...(await Promise.all(waiting)), await ask(port, '/page')]
      const etag = String(answers.at(-1)?.headers.etag)
      answers.push(await ask(port, '/page', { method: 'HEAD' }))
      answers.push(await ask(port, '/page', { headers: { 'if-none-match': etag } }))
      for (const { headers } of answers) {
        expect(headers['content-security-policy']).toContain(`'nonce-${String(headers['x-nonce'])}'`)
        expect(headers).toMatchObject({ 'x-asked': 'yes', 'x-content-type-options': 'nosniff' })
      }
      expect(new Set(answers.map(({ headers }) => headers['x-nonce'])).size).toBe(answers.length)
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 304])
      expect(origin.runs).toBe(1)
    })
  })
})

/** What the plugin does with an origin that it lets in. */
const ways: Readonly<Record<string, FastifyCorsOptions>> = {
  reflecting: { origin: true, credentials: true },
  'with a list': { origin: ['https://one.example', 'https://two.example'] },
  'asking a function': { origin: (origin, answer) => answer(null, origin ?? false) },
}

describe.each(PLACES)('@fastify/cors registered %s the cache', (place) => {
  test.each(Object.entries(ways))('%s: nobody is answered for the origin of another', async (_way, options) => {
    const door = lock()
    const origin = counter()
    await withPlugin(
      place,
      (app) => app.register(cors, options),
      async ({ app, cache: held }) => {
        app.get('/page', { config: { cache } }, async (_request, reply) => {
          await door.opened
          // As a handler does that minds what is there already.
          const vary = reply.getHeader('vary')
          return reply.header('vary', [vary ?? [], 'Accept-Language'].flat().join(', ')).send(origin.next())
        })
        const { seen } = stepsOf(held)
        const port = await listen(app)
        const originOf = (index: number): (typeof ORIGINS)[number] => ORIGINS[index % ORIGINS.length]
        const askFor = (index: number): Promise<WireAnswer> => {
          const named = originOf(index)
          return ask(port, '/page', named === undefined ? {} : { headers: { origin: named } })
        }
        const waiting = [0, 1, 2, 3, 4, 5].map(askFor)
        await seen('join', 5)
        door.open()
        const answers = [...(await Promise.all(waiting)), await askFor(6), await askFor(7), await askFor(8)]
        for (const [index, { status, headers, body }] of answers.entries()) {
          const named = originOf(index)
          expect([status, body.toString()]).toEqual([200, 'run 1'])
          const allowed = [String(named), ...(named === undefined ? ['*', 'false'] : [])]
          expect(allowed).toContain(String(headers['access-control-allow-origin']))
          const vary = namesIn(headers.vary)
          expect(vary).toEqual(expect.arrayContaining(['accept-language', ...(named === undefined ? [] : ['origin'])]))
          expect(new Set(vary).size).toBe(vary.length)
        }
      },
    )
  })

  test('a preflight is answered by it, and a foreign origin gets the stored answer without leave', async () => {
    const origin = counter()
    await withPlugin(
      place,
      (app) => app.register(cors, { origin: 'https://one.example' }),
      async ({ app }) => {
        app.get('/page', { config: { cache } }, async () => origin.next())
        const port = await listen(app)
        const preflight = await ask(port, '/page', {
          method: 'OPTIONS',
          headers: { origin: 'https://one.example', 'access-control-request-method': 'GET' },
        })
        expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([
          204,
          'https://one.example',
        ])
        for (const named of ['https://one.example', 'https://evil.example'])
          expect(
            (await ask(port, '/page', { headers: { origin: named } })).headers['access-control-allow-origin'],
          ).not.toBe('https://evil.example')
        expect(origin.runs).toBe(1)
      },
    )
  })
})
