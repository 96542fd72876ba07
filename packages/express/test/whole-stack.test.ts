import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import compression from 'compression'
import cors from 'cors'
import express from 'express'
import express4 from 'express4'
import session from 'express-session'
import helmet from 'helmet'
import { ask, textOf, type WireAnswer } from '../../../test/wire.ts'
import { gate, onSite } from './support/site.ts'

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

/** What a shop has before its routes. */
function furnish(app: ReturnType<typeof express>): void {
  app.use((_req, res, next) => {
    res.locals['nonce'] = randomUUID()
    res.set('x-nonce', String(res.locals['nonce']))
    next()
  })
  const scriptSrc = [
    (_req: unknown, res: unknown) =>
      `'nonce-${String((res as { readonly locals: Readonly<Record<string, unknown>> }).locals['nonce'])}'`,
  ]
  app.use(helmet({ contentSecurityPolicy: { directives: { scriptSrc } } }))
  app.use(cors({ origin: true, credentials: true }))
  app.use(compression())
  app.use(session({ secret: 'not a secret', resave: false, saveUninitialized: true }))
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('helmet, cors, compression and express-session together before the cache, with %s', (_version, make) => {
  test('60 clients at once and once more: each gets the text in its own coding, with the fields and the cookie that are its own', async () => {
    const door = gate()
    await onSite(
      (app, cached) => {
        furnish(app)
        app.get('/login', (_req, res) => void res.send('welcome'))
        app.get('/text', cached({ ttl: '1m' }), async (_req, res) => {
          await door.opened
          res.type('text').send(TEXT)
        })
      },
      async ({ port, count, seen }) => {
        const cookie = String((await ask(port, '/login')).headers['set-cookie']?.[0]?.split(';')[0])
        const askAs = (index: number): Promise<WireAnswer> => {
          const { origin, coding, visitor } = clientOf(index)
          const headers = { origin, 'accept-encoding': coding, ...(visitor ? {} : { cookie }) }
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
      {},
      make,
    )
  })
})
