import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import session from '@fastify/session'
import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import { ask, textOf, type WireAnswer } from '../../../test/wire.ts'
import { listen, lock, stepsOf, withApp } from './support/cached-app.ts'

const TEXT = 'One load per expiry, for the whole fleet. '.repeat(200)
const CLIENTS = 60

/** What tells a client from the others: three origins, two codings, and every sixth is a visitor without a session. */
interface Client {
  readonly origin: string
  readonly coding: 'gzip' | 'identity'
  readonly visitor: boolean
}

const clientOf = (index: number): Client => ({
  origin: `https://${index % 3}.example`,
  coding: index % 2 === 0 ? 'gzip' : 'identity',
  visitor: index % 6 === 5,
})

function expectOwn({ status, whole, headers, body }: WireAnswer, { origin, coding, visitor }: Client): void {
  expect([status, whole, textOf({ headers, body })]).toEqual([200, true, TEXT])
  expect(headers['content-encoding']).toBe(coding === 'identity' ? undefined : coding)
  expect(headers['access-control-allow-origin']).toBe(origin)
  expect(headers['content-security-policy']).toContain(`'nonce-${String(headers['x-nonce'])}'`)
  expect('set-cookie' in headers).toBe(visitor)
}

/** What a shop has around its routes. */
function furnish(app: FastifyInstance): void {
  app.register(helmet, { enableCSPNonces: true })
  app.register(cors, { origin: true, credentials: true })
  app.register(compress)
  app.register(cookie).register(session, {
    secret: 'no secret, but as long as one has to be',
    cookie: { secure: false },
    saveUninitialized: true,
    rolling: false,
  })
}

describe.each(['before', 'after'] as const)('helmet, cors, compress and session together, %s the cache', (place) => {
  test('60 clients at once and once more: each gets the text in its own coding, with the fields and the cookie that are its own', async () => {
    const door = lock()
    await withApp(
      async ({ app, cache: held }) => {
        if (place === 'after') furnish(app)
        await app.after()
        app.addHook('preHandler', async (_request, reply) => {
          reply.header('x-nonce', reply.cspNonce.script)
        })
        app.get('/login', { config: { cache: false } }, async () => 'welcome')
        app.get('/text', { config: { cache: { ttl: '1m' } } }, async (_request, reply) => {
          await door.opened
          return reply.type('text/plain').send(TEXT)
        })
        const { seen, count } = stepsOf(held)
        const port = await listen(app)
        const own = String((await ask(port, '/login')).headers['set-cookie']?.[0]?.split(';')[0])
        const askAs = (index: number): Promise<WireAnswer> => {
          const { origin, coding, visitor } = clientOf(index)
          const headers = { origin, 'accept-encoding': coding, ...(visitor ? {} : { cookie: own }) }
          return ask(port, '/text', { headers })
        }
        const leader = askAs(0)
        await seen('load', 1)
        const crowd = [leader, ...Array.from({ length: CLIENTS - 1 }, (_unused, index) => askAs(index + 1))]
        await seen('join', CLIENTS - 1)
        door.open()
        const nonces = new Set<unknown>()
        const cookies: unknown[] = []
        for (const round of [await Promise.all(crowd), await Promise.all(crowd.map((_asked, index) => askAs(index)))])
          for (const [index, answer] of round.entries()) {
            expectOwn(answer, clientOf(index))
            nonces.add(answer.headers['x-nonce'])
            cookies.push(...(answer.headers['set-cookie'] ?? []))
          }
        expect([nonces.size, new Set(cookies).size]).toEqual([2 * CLIENTS, CLIENTS / 3])
        expect(count('commit')).toBe(1)
      },
      place === 'before' ? { early: furnish } : {},
    )
  })
})
