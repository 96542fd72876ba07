import { describe, expect, test } from '@jest/globals'
import express, { type RequestHandler } from 'express'
import express4 from 'express4'
import session, { type SessionOptions } from 'express-session'
import type { RouteOptions } from '../src/index.ts'
import { ask, type WireAnswer } from '../../../test/wire.ts'
import { onSite, type Site } from './support/site.ts'

declare module 'express-session' {
  interface SessionData {
    user: string
  }
}

const CLIENTS = 50
const PLACES = ['outside', 'inside'] as const

const sessions = (options: Partial<SessionOptions> = {}): RequestHandler =>
  session({ secret: 'not a secret', resave: false, saveUninitialized: true, ...options })

/** `Set-Cookie` without its attributes, as a client sends it back. */
const cookieOf = ({ headers }: WireAnswer): string | undefined => headers['set-cookie']?.[0]?.split(';')[0]

const crowd = (
  { port }: Site,
  path: string,
  headersOf: (client: number) => Record<string, string>,
): Promise<WireAnswer[]> =>
  Promise.all(Array.from({ length: CLIENTS }, (_unused, client) => ask(port, path, { headers: headersOf(client) })))

interface Setting {
  readonly place: (typeof PLACES)[number]
  readonly route?: RouteOptions
  readonly session?: Partial<SessionOptions>
  readonly make: typeof express
}

/** `/public` is everybody's; `/me` is its session's; `/login/:user` begins one. */
async function withSessions(setting: Setting, play: (site: Site, runs: () => number) => Promise<void>): Promise<void> {
  let runs = 0
  const middleware = sessions(setting.session)
  await onSite(
    (app, cached) => {
      const inner = setting.place === 'inside' ? [middleware] : []
      const cache = cached({ ttl: '1m', ...setting.route })
      if (setting.place === 'outside') app.use(middleware)
      app.get('/login/:user', ...inner, (req, res) => {
        req.session.user = String(req.params['user'])
        res.send('welcome')
      })
      app.get('/public', cache, ...inner, (_req, res) => {
        runs += 1
        setImmediate(() => res.send('for everybody'))
      })
      app.get('/me', cache, ...inner, (req, res) => {
        runs += 1
        setImmediate(() => res.send(`for ${req.session.user} of ${req.session.id}`))
      })
    },
    (site) => play(site, () => runs),
    {},
    setting.make,
  )
}

/** The cookies of two users who have logged in. */
async function logIn({ port }: Site): Promise<Record<'ann' | 'bob', string>> {
  const ann = cookieOf(await ask(port, '/login/ann')) ?? ''
  const bob = cookieOf(await ask(port, '/login/bob')) ?? ''
  return { ann, bob }
}

const userOf = (client: number): 'ann' | 'bob' => (client % 2 === 0 ? 'ann' : 'bob')

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
] as const)('express-session with %s', (_version, make) => {
  describe.each(PLACES)('%s the cache', (place) => {
    test('50 visitors at once without a cookie: each gets a session that is nobody else’s', async () => {
      await withSessions({ place, make }, async (site) => {
        for (const path of ['/public', '/me']) {
          const cookies = (await crowd(site, path, () => ({}))).map(cookieOf)
          expect(cookies.every((cookie) => cookie?.startsWith('connect.sid='))).toBe(true)
          expect(new Set(cookies).size).toBe(CLIENTS)
        }
        expect(site.count('commit')).toBe(0)
      })
    })

    test('50 clients of two users at once, with the session in the key: everybody gets their own', async () => {
      await withSessions(
        { place, make, route: { key: { cookies: ['connect.sid'] }, allowReads: ['session'] } },
        async (site, runs) => {
          const cookies = await logIn(site)
          for (let round = 0; round < 2; round += 1) {
            const answers = await crowd(site, '/me', (client) => ({ cookie: cookies[userOf(client)] }))
            for (const [client, { body, headers }] of answers.entries()) {
              expect(body.toString()).toMatch(`for ${userOf(client)} `)
              expect(headers).not.toHaveProperty('set-cookie')
            }
          }
          expect(runs()).toBe(2)
        },
      )
    })

    test('50 clients of two users at once, whose cookies go past the cache: everybody gets their own', async () => {
      await withSessions({ place, make, route: { cookies: 'bypass' } }, async (site, runs) => {
        const cookies = await logIn(site)
        const answers = await crowd(site, '/me', (client) => ({ cookie: cookies[userOf(client)] }))
        for (const [client, { body }] of answers.entries()) expect(body.toString()).toMatch(`for ${userOf(client)} `)
        expect(runs()).toBe(CLIENTS)
      })
    })

    test('users with a session and visitors without one: the stored answer is theirs, a new cookie is its visitor’s alone', async () => {
      await withSessions({ place, make }, async (site) => {
        const { ann } = await logIn(site)
        const answers = await crowd(site, '/public', (client): Record<string, string> =>
          client % 2 === 0 ? { cookie: ann } : {},
        )
        const later = await ask(site.port, '/public', { headers: { cookie: ann } })
        for (const { body } of [...answers, later]) expect(body.toString()).toBe('for everybody')
        const given = answers.map(cookieOf)
        const fresh = given.filter((cookie) => cookie !== undefined)
        expect(new Set(fresh).size).toBe(fresh.length)
        expect(given.filter((_cookie, client) => client % 2 === 0)).toEqual(Array(CLIENTS / 2).fill(undefined))
        expect(later.headers).not.toHaveProperty('set-cookie')
      })
    })

    test('that renews its cookie with each answer: no answer is kept, and no cookie goes to another user', async () => {
      await withSessions({ place, make, session: { rolling: true } }, async (site, runs) => {
        const cookies = await logIn(site)
        for (const path of ['/me', '/public']) {
          const answers = await crowd(site, path, (client) => ({ cookie: cookies[userOf(client)] }))
          expect(answers.map(cookieOf)).toEqual(answers.map((_answer, client) => cookies[userOf(client)]))
          if (path === '/public') continue
          for (const [client, { body }] of answers.entries()) expect(body.toString()).toMatch(`for ${userOf(client)} `)
        }
        expect([runs(), site.count('commit')]).toEqual([2 * CLIENTS, 0])
      })
    })
  })
})
