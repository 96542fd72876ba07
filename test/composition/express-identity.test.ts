import { createServer } from 'node:http'
import { describe } from '@jest/globals'
import cookieParser from 'cookie-parser'
import type express from 'express'
import type { RequestHandler } from 'express'
import basicAuth from 'express-basic-auth'
import { auth } from 'express-openid-connect'
import session from 'express-session'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { createInstance } from 'i18next'
import { handle, LanguageDetector } from 'i18next-http-middleware'
import passport from 'passport'
import { ANN, BOB, CLIENTS, MEMBERS } from './clients.ts'
import {
  cases,
  EVERYWHERE,
  EXPRESS,
  expressApp,
  INSIDE,
  type Neighbour,
  OUTSIDE,
  type Row,
  running,
  TEXT,
} from './express-stack.ts'
import { IN_VAIN, testCases } from './play.ts'

const sessions = (): RequestHandler => session({ secret: 'not a secret', resave: false, saveUninitialized: false })

/** A session that members begin at `/login`, in an app or in a route of it. */
function withSession(layers: readonly RequestHandler[] = []): Neighbour {
  const one = sessions()
  return {
    layers: [one, ...layers],
    first: (app) =>
      app.get('/login', one, (req, res) => {
        Object.assign(req.session, { user: req.headers['user-agent'] })
        res.send('welcome')
      }),
  }
}

/** Passport with a strategy that takes the user of the session. */
function withPassport(): Neighbour {
  const own = new passport.Passport()
  class OfSession extends passport.Strategy {
    override name = 'of-session'
    override authenticate(this: passport.StrategyCreated<OfSession>, req: express.Request): void {
      const { user } = req.session as unknown as { readonly user?: string }
      if (user === undefined) this.fail(401)
      else this.success({ name: user })
    }
  }
  own.use(new OfSession())
  return withSession([own.initialize(), own.authenticate('of-session', { session: false })])
}

async function withUpstream(): Promise<Neighbour> {
  const server = createServer((req, res) => {
    // The clock of the cache is the test's own: a date of the real clock would be years old.
    res.sendDate = false
    res.end(`${TEXT} ${req.url}`)
  })
  const origin = await running(server)
  const handler = createProxyMiddleware({ target: `http://127.0.0.1:${origin.port}` })
  return { layers: [], handler: (req, res, next) => void handler(req, res, next), close: () => origin.close() }
}

async function withLanguages(): Promise<Neighbour> {
  const languages = createInstance().use(LanguageDetector as never)
  const resources = { en: { translation: { page: 'a page' } }, de: { translation: { page: 'eine Seite' } } }
  await languages.init({
    resources,
    fallbackLng: 'en',
    preload: ['en', 'de'],
    showSupportNotice: false,
    detection: { order: ['header'], caches: false },
  } as object)
  return { layers: [handle(languages)] }
}

const translated = (req: express.Request): string => (req as unknown as { t(key: string): string }).t('page')
const nameOf = (req: express.Request): string => (req.user as { readonly name: string } | undefined)?.name ?? 'nobody'
const basic = (): Neighbour => ({
  layers: [basicAuth({ users: { [ANN]: 'secret', [BOB]: 'secret' } })],
})
const basicName = (req: express.Request): string => (req as basicAuth.IBasicAuthedRequest).auth.user

const rows: readonly Row[] = [
  {
    says: 'cookie-parser: one stored page for everyone',
    places: EVERYWHERE,
    neighbour: () => ({ layers: [cookieParser()] }),
    entries: 1,
  },
  {
    says: 'cookie-parser with the cookie in the key: a page for each',
    places: EVERYWHERE,
    neighbour: () => ({ layers: [cookieParser()] }),
    route: { key: { cookies: ['who'] } },
    text: (req) => `for ${String(req.cookies['who'])}`,
    entries: 3,
  },
  {
    says: 'cookie-parser and a page that reads a cookie that is in no key: each response is its own client’s',
    places: EVERYWHERE,
    neighbour: () => ({ layers: [cookieParser()] }),
    text: (req) => `for ${String(req.cookies['who'])}`,
    entries: 0,
    own: CLIENTS,
    loads: IN_VAIN,
  },
  {
    says: 'express-session: one stored page for everyone',
    places: EVERYWHERE,
    neighbour: () => withSession(),
    login: '/login',
    entries: 1,
  },
  {
    says: 'express-session and a page that reads the session: each response is its own client’s',
    // Behind the cache it streams each body in two parts, to which no 304 can answer any more.
    places: OUTSIDE,
    neighbour: () => withSession(),
    text: (req) => `for ${String(Reflect.get(req.session, 'user'))}`,
    login: '/login',
    entries: 0,
    own: CLIENTS,
    loads: IN_VAIN,
  },
  {
    says: 'passport: a guest gets its 401, members share a page',
    places: OUTSIDE,
    neighbour: withPassport,
    login: '/login',
    route: { refresh: 'inline' },
    entries: 1,
  },
  {
    says: 'passport and a page that reads the user: each response is its own client’s',
    places: OUTSIDE,
    neighbour: withPassport,
    text: nameOf,
    login: '/login',
    entries: 0,
    own: MEMBERS,
  },
  {
    says: 'express-basic-auth: requests with credentials run their own handler',
    places: EVERYWHERE.filter((place) => !place.endsWith('of the app')),
    neighbour: basic,
    text: basicName,
    credentials: true,
    entries: 0,
    own: MEMBERS,
  },
  {
    says: 'express-basic-auth with credentials in the key: a page for each member',
    places: OUTSIDE,
    neighbour: basic,
    text: basicName,
    credentials: true,
    route: { authorization: 'key' },
    entries: 2,
  },
  {
    says: 'i18next-http-middleware with the language in the key: a page for each language',
    places: EVERYWHERE,
    neighbour: withLanguages,
    text: translated,
    route: { key: { headers: ['accept-language'] } },
    entries: 2,
  },
  {
    says: 'i18next-http-middleware under a layer that says Vary: Accept-Language: a page for each language',
    places: OUTSIDE,
    neighbour: async () => {
      const { layers } = await withLanguages()
      return {
        layers: [
          (_req, res, next) => {
            res.vary('Accept-Language')
            next()
          },
          ...layers,
        ],
      }
    },
    text: translated,
    entries: 2,
  },
  {
    says: 'i18next-http-middleware and a page that says Vary: a page for each language',
    places: INSIDE,
    neighbour: withLanguages,
    text: translated,
    fields: { vary: 'Accept-Language' },
    entries: 2,
  },
  {
    says: 'http-proxy-middleware as the handler: one request of the upstream for each expiry',
    places: ['in a route, behind its cache', 'behind the cache of the app'],
    neighbour: withUpstream,
    // The proxy forwards the credentials: the upstream says what it does with them.
    route: { allowReads: ['cookie', 'authorization'] },
    entries: 1,
  },
  {
    says: 'express-openid-connect without a required login: one stored page',
    places: OUTSIDE,
    neighbour: () => ({
      layers: [
        auth({
          authRequired: false,
          issuerBaseURL: 'https://issuer.example',
          baseURL: 'https://shop.example',
          clientID: 'shop',
          secret: 'a secret that is as long as one has to be',
        }),
      ],
    }),
    entries: 1,
  },
]

describe.each(EXPRESS)('neighbours that know the client, on %s', (_version, make) => {
  testCases(cases(rows), (place, row) => expressApp(make, place, row))
})
