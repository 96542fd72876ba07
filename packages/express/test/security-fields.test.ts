import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import cors from 'cors'
import express, { type RequestHandler } from 'express'
import express4 from 'express4'
import helmet from 'helmet'
import { ask, type WireAnswer } from '../../../test/wire.ts'
import { gate, onSite, type Site, until } from './support/site.ts'

const ORIGINS = ['https://one.example', 'https://two.example', undefined] as const

/** An app that sends each request's nonce twice: in helmet's policy, and in a field of its own to compare it with. */
const nonces: readonly RequestHandler[] = [
  (_req, res, next) => {
    res.locals['nonce'] = randomBytes(16).toString('base64')
    res.set('x-nonce', String(res.locals['nonce']))
    next()
  },
  helmet({
    contentSecurityPolicy: {
      directives: { scriptSrc: [(_req, res) => `'nonce-${(res as unknown as Local).locals['nonce']}'`] },
    },
  }),
]

interface Local {
  readonly locals: Readonly<Record<string, string>>
}

const namesIn = (vary: unknown): readonly string[] =>
  String(vary)
    .split(',')
    .map((name) => name.trim().toLowerCase())

/** A leader, its followers and a hit, all asking at one URL. */
async function miss3Followers2Hits(
  site: Site,
  open: () => void,
  askFor: (index: number) => Promise<WireAnswer>,
): Promise<WireAnswer[]> {
  const waiting = [0, 1, 2, 3].map(askFor)
  await until(() => site.count('join') === 3)
  open()
  const first = await Promise.all(waiting)
  return [...first, await askFor(4), await askFor(5)]
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('with %s', (_version, make) => {
  test('helmet outside the cache: leader, followers, hits, HEAD and 304 each carry the policy of their own request', async () => {
    const door = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(...nonces)
        app.get('/a', cached({ ttl: '1m' }), async (_req, res) => {
          runs += 1
          await door.opened
          res.send('a')
        })
      },
      async (site) => {
        const answers = await miss3Followers2Hits(site, door.open, () => ask(site.port, '/a'))
        const etag = String(answers[0]?.headers.etag)
        answers.push(await ask(site.port, '/a', { method: 'HEAD' }))
        answers.push(await ask(site.port, '/a', { headers: { 'if-none-match': etag } }))
        for (const { headers } of answers) {
          expect(headers['content-security-policy']).toContain(`'nonce-${String(headers['x-nonce'])}'`)
          expect(headers).toMatchObject({
            'x-content-type-options': 'nosniff',
            'strict-transport-security': expect.stringContaining('max-age='),
            'cross-origin-resource-policy': 'same-origin',
          })
          expect(headers).not.toHaveProperty('x-powered-by')
        }
        expect(new Set(answers.map(({ headers }) => headers['x-nonce'])).size).toBe(answers.length)
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200, 304])
        expect(runs).toBe(1)
      },
      {},
      make,
    )
  })

  /** What `cors` does with an origin that it lets in. */
  const ways: Readonly<Record<string, cors.CorsOptions>> = {
    reflecting: { origin: true, credentials: true },
    'with a list': { origin: ['https://one.example', 'https://two.example'] },
    'asking a function': { origin: (origin, answer) => answer(null, origin) },
  }

  describe.each(Object.entries(ways))('cors %s', (_way, options) => {
    test.each(['outside', 'inside'] as const)(
      '%s the cache: nobody is answered for the origin of another',
      async (place) => {
        const door = gate()
        await onSite(
          (app, cached) => {
            if (place === 'outside') app.use(cors(options))
            const inner = place === 'inside' ? [cors(options)] : []
            app.get('/a', cached({ ttl: '1m' }), ...inner, async (_req, res) => {
              await door.opened
              res.vary('Accept-Language').send('a')
            })
          },
          async (site) => {
            // Inside, a leader without an origin would hide from the cache that the answer varies: `cors` says so only of some.
            const first = place === 'outside' ? 2 : 0
            const originOf = (index: number): (typeof ORIGINS)[number] => ORIGINS[(first + index) % ORIGINS.length]
            const askFor = (index: number): Promise<WireAnswer> => {
              const origin = originOf(index)
              return ask(site.port, '/a', origin === undefined ? {} : { headers: { origin } })
            }
            const answers = await miss3Followers2Hits(site, door.open, askFor)
            for (const [index, { status, headers }] of answers.entries()) {
              const origin = originOf(index)
              expect(status).toBe(200)
              // Who names no origin is never told that of another.
              const allowed = [String(origin), ...(origin === undefined ? ['*'] : [])]
              expect(allowed).toContain(String(headers['access-control-allow-origin']))
              const vary = namesIn(headers.vary)
              const wanted = ['accept-language', ...(origin === undefined ? [] : ['origin'])]
              expect(vary).toEqual(expect.arrayContaining(wanted))
              expect(new Set(vary).size).toBe(vary.length)
            }
          },
          {},
          make,
        )
      },
    )
  })

  test('cors outside the cache: a preflight is answered by it, and a foreign origin gets the stored answer without leave', async () => {
    let runs = 0
    await onSite(
      (app, cached) => {
        app.use(cors({ origin: 'https://one.example' }))
        app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
          runs += 1
          res.send('a')
        })
      },
      async ({ port }) => {
        const preflight = await ask(port, '/a', {
          method: 'OPTIONS',
          headers: { origin: 'https://one.example', 'access-control-request-method': 'GET' },
        })
        expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([
          204,
          'https://one.example',
        ])
        for (const origin of ['https://one.example', 'https://evil.example'])
          expect((await ask(port, '/a', { headers: { origin } })).headers['access-control-allow-origin']).not.toBe(
            'https://evil.example',
          )
        expect(runs).toBe(1)
      },
      {},
      make,
    )
  })

  test('helmet inside the cache: its fields are those of the stored answer, the same for everybody', async () => {
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m' }), ...nonces, (_req, res) => void res.send('a'))
      },
      async ({ port }) => {
        const [first, second] = [await ask(port, '/a'), await ask(port, '/a')]
        expect(second.headers['content-security-policy']).toContain(`'nonce-${String(first.headers['x-nonce'])}'`)
        expect(second.headers).not.toHaveProperty('x-powered-by')
      },
      {},
      make,
    )
  })

  test('cors inside the cache with a function that refuses says no Vary: whoever comes next is given no leave, and none of another', async () => {
    await onSite(
      (app, cached) => {
        const one = cors({ origin: (origin, answer) => answer(null, origin === 'https://one.example' && origin) })
        app.get('/a', cached({ ttl: '1m' }), one, (_req, res) => void res.send('a'))
      },
      async ({ port }) => {
        for (const origin of ['https://evil.example', 'https://one.example']) {
          const { headers, body } = await ask(port, '/a', { headers: { origin } })
          expect([body.toString(), headers['access-control-allow-origin']]).toEqual(['a', undefined])
        }
      },
      {},
      make,
    )
  })
})
