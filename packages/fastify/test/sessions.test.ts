import cookie from '@fastify/cookie'
import session from '@fastify/session'
import { describe, expect, test } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import type { FastifyRouteOptions } from '../src/index.ts'
import { ask, type WireAnswer } from '../../../test/wire.ts'
import { counter, listen, type Steps, stepsOf, withApp } from './support/cached-app.ts'

declare module 'fastify' {
  interface Session {
    user: string
  }
}

const CLIENTS = 50

/** `@fastify/session` sends its cookie with every answer, unless it is told not to. */
const RENEWING = [true, false] as const

const register = (app: FastifyInstance, rolling: boolean): void => {
  const secret = 'no secret, but as long as one has to be'
  app.register(cookie).register(session, { secret, cookie: { secure: false }, saveUninitialized: true, rolling })
}

/** Where the two plugins are registered: before ours, after it, or in a child app that holds the routes. */
const PLACES = ['before', 'after', 'in a child of the app with'] as const

interface Site extends Steps {
  readonly runs: () => number
  ask(path: string, cookies?: string): Promise<WireAnswer>
}

/** `/public` is everybody's; `/me` is its session's; `/login/:user` begins one. */
function declare(app: FastifyInstance, route: FastifyRouteOptions, run: () => unknown): void {
  const config = { cache: { ttl: '1m', ...route } } as const
  app.get<{ Params: { user: string } }>(
    '/login/:user',
    { config: { cache: false } },
    async ({ session: own, params }) => {
      own.user = params.user
      return 'welcome'
    },
  )
  app.get('/public', { config }, async () => {
    run()
    await new Promise(setImmediate)
    return 'for everybody'
  })
  app.get('/me', { config }, async ({ session: own }) => {
    run()
    await new Promise(setImmediate)
    return `for ${own.user} of ${own.sessionId}`
  })
}

interface Setting {
  readonly place: (typeof PLACES)[number]
  readonly rolling: boolean
  readonly route?: FastifyRouteOptions
}

async function withSessions(
  { place, rolling, route = {} }: Setting,
  play: (site: Site) => Promise<void>,
): Promise<void> {
  const origin = counter()
  await withApp(
    async ({ app, cache }) => {
      if (place === 'after') register(app, rolling)
      if (place === 'in a child of the app with')
        app.register(async (child) => {
          register(child, rolling)
          await child.after()
          declare(child, route, origin.next)
        })
      else {
        await app.after()
        declare(app, route, origin.next)
      }
      const port = await listen(app)
      await play({
        ...stepsOf(cache),
        runs: () => origin.runs,
        ask: (path, cookies) => ask(port, path, cookies === undefined ? {} : { headers: { cookie: cookies } }),
      })
    },
    place === 'before' ? { early: (app) => register(app, rolling) } : {},
  )
}

/** `Set-Cookie` without its attributes, as a client sends it back. */
const cookieOf = ({ headers }: WireAnswer): string | undefined => headers['set-cookie']?.[0]?.split(';')[0]

const crowd = (askAs: (client: number) => Promise<WireAnswer>): Promise<WireAnswer[]> =>
  Promise.all(Array.from({ length: CLIENTS }, (_unused, client) => askAs(client)))

const userOf = (client: number): 'ann' | 'bob' => (client % 2 === 0 ? 'ann' : 'bob')

async function logIn(site: Site): Promise<Record<'ann' | 'bob', string>> {
  return { ann: cookieOf(await site.ask('/login/ann')) ?? '', bob: cookieOf(await site.ask('/login/bob')) ?? '' }
}

describe.each(PLACES)('@fastify/session registered %s the cache', (place) => {
  describe.each(RENEWING)('with rolling: %s', (rolling) => {
    test('50 visitors at once without a cookie: each gets a session that is nobody else’s', async () => {
      await withSessions({ place, rolling }, async (site) => {
        for (const path of ['/public', '/me']) {
          const cookies = (await crowd(() => site.ask(path))).map(cookieOf)
          expect(cookies.every((given) => given?.startsWith('sessionId='))).toBe(true)
          expect(new Set(cookies).size).toBe(CLIENTS)
        }
        expect(site.count('commit')).toBe(0)
      })
    })

    test('50 clients of two users at once, with the session in the key: everybody gets their own', async () => {
      await withSessions(
        { place, rolling, route: { key: { cookies: ['sessionId'] }, allowReads: ['session'] } },
        async (site) => {
          const cookies = await logIn(site)
          for (let round = 0; round < 2; round += 1) {
            const answers = await crowd((client) => site.ask('/me', cookies[userOf(client)]))
            for (const [client, answer] of answers.entries()) {
              expect(answer.body.toString()).toMatch(`for ${userOf(client)} `)
              expect([undefined, cookies[userOf(client)]]).toContain(cookieOf(answer))
            }
          }
          expect(site.runs()).toBe(rolling ? 2 * CLIENTS : 2)
        },
      )
    })

    test('50 clients of two users at once, whose cookies go past the cache: everybody gets their own', async () => {
      await withSessions({ place, rolling, route: { cookies: 'bypass' } }, async (site) => {
        const cookies = await logIn(site)
        const answers = await crowd((client) => site.ask('/me', cookies[userOf(client)]))
        for (const [client, { body }] of answers.entries()) expect(body.toString()).toMatch(`for ${userOf(client)} `)
        expect(site.runs()).toBe(CLIENTS)
      })
    })

    test('users with a session and visitors without one: no cookie goes to somebody else', async () => {
      await withSessions({ place, rolling }, async (site) => {
        const { ann } = await logIn(site)
        const answers = await crowd((client) => site.ask('/public', client % 2 === 0 ? ann : undefined))
        const later = await site.ask('/public', ann)
        for (const { body } of [...answers, later]) expect(body.toString()).toBe('for everybody')
        const given = answers.map(cookieOf)
        const visitors = given.filter((_cookie, client) => client % 2 === 1).filter((value) => value !== undefined)
        expect(new Set([...visitors, ann]).size).toBe(visitors.length + 1)
        for (const [client, value] of given.entries())
          expect([undefined, client % 2 === 0 ? ann : value]).toContain(value)
        expect([undefined, ann]).toContain(cookieOf(later))
      })
    })
  })
})
