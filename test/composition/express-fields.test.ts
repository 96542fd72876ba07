import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe } from '@jest/globals'
import compression from 'compression'
import timeout from 'connect-timeout'
import cors from 'cors'
import errorhandler from 'errorhandler'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { isRefresh } from '@cattlegrid/express'
import helmet from 'helmet'
import hpp from 'hpp'
import methodOverride from 'method-override'
import morgan from 'morgan'
import { type HttpLogger, pinoHttp } from 'pino-http'
import responseTime from 'response-time'
import favicon from 'serve-favicon'
import { ANN, BOB, GUEST } from './clients.ts'
import { cases, EVERYWHERE, EXPRESS, expressApp, INSIDE, OUTSIDE, type Row } from './express-stack.ts'
import { testCases } from './play.ts'

const nonces = [
  (
    _req: unknown,
    res: { locals: Record<string, unknown>; setHeader(name: string, value: string): void },
    next: () => void,
  ) => {
    res.locals['nonce'] = randomUUID()
    res.setHeader('x-nonce', String(res.locals['nonce']))
    next()
  },
  helmet({
    contentSecurityPolicy: {
      directives: {
        scriptSrc: [(_req, res) => `'nonce-${(res as unknown as { locals: { nonce: string } }).locals.nonce}'`],
      },
    },
  }),
]
const nonceOnly = { 'content-security-policy': 'holds the nonce of its request' }
const ICON = Buffer.from('the icon of the shop')
const icons = [ANN, BOB, GUEST].flatMap((who) => [
  { who, path: '/favicon.ico' },
  { who, path: '/favicon.ico', method: 'HEAD' as const },
])
const limits = (): ReturnType<typeof rateLimit> =>
  rateLimit({
    windowMs: 3_600_000,
    limit: ({ headers }) => (headers['user-agent'] === BOB ? 9 : 1000),
    keyGenerator: ({ headers }) => headers['user-agent'] ?? '',
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    skip: isRefresh,
  })
const limitFields = ['ratelimit-limit', 'ratelimit-policy', 'ratelimit-remaining', 'ratelimit-reset']
const reset = { 'ratelimit-reset': 'counts seconds' }
const inner = Object.fromEntries(limitFields.map((name) => [name, 'the limit counts loads, and is stripped']))

const rows: readonly Row[] = [
  {
    says: 'helmet with a policy for everyone: one stored page',
    places: EVERYWHERE,
    neighbour: () => ({ layers: [helmet()] }),
    entries: 1,
  },
  {
    says: 'helmet with nonces: each response has the nonce of its own request',
    places: OUTSIDE,
    neighbour: () => ({ layers: nonces }),
    entries: 1,
    differs: nonceOnly,
  },
  {
    says: 'cors: each response names the origin of its own client, from one stored page',
    places: OUTSIDE,
    neighbour: () => ({ layers: [cors({ origin: true, credentials: true })] }),
    entries: 1,
  },
  {
    says: 'cors above a handler that varies by Origin itself: a page for each origin',
    places: OUTSIDE,
    neighbour: () => ({ layers: [cors({ origin: true })] }),
    text: ({ headers }) => `${TEXT_FOR} ${headers.origin ?? ''}`,
    fields: { vary: 'Origin' },
    entries: 3,
  },
  {
    says: 'cors: a variant for each origin',
    places: INSIDE,
    neighbour: () => ({ layers: [cors({ origin: true })] }),
    entries: 3,
  },
  {
    says: 'compression: one stored text, coded for each client',
    places: OUTSIDE,
    neighbour: () => ({ layers: [compression({ threshold: 0 })] }),
    entries: 1,
  },
  {
    says: 'compression: a variant for each set of codings',
    places: INSIDE,
    neighbour: () => ({ layers: [compression({ threshold: 0 })] }),
    entries: 3,
  },
  {
    says: 'response-time: each response has the time of its own request',
    places: OUTSIDE,
    neighbour: () => ({ layers: [responseTime()] }),
    entries: 1,
    differs: { 'x-response-time': 'measured' },
  },
  {
    says: 'response-time with its field stripped: nobody reads the time of another',
    places: INSIDE,
    neighbour: () => ({ layers: [responseTime()] }),
    route: { strip: ['x-response-time'] },
    entries: 1,
    differs: { 'x-response-time': 'measured' },
  },
  {
    says: 'connect-timeout: no page is cut off',
    places: EVERYWHERE,
    neighbour: () => ({ layers: [timeout('30s')] }),
    entries: 1,
  },
  {
    says: 'morgan: logs and changes nothing',
    places: EVERYWHERE,
    neighbour: () => ({ layers: [morgan('combined', { stream: { write: () => undefined } })] }),
    entries: 1,
  },
  {
    says: 'pino-http: each response has the id of its own request',
    places: OUTSIDE,
    neighbour: () => ({ layers: [logger()] }),
    entries: 1,
  },
  {
    says: 'pino-http with its id stripped: nobody reads the id of another',
    places: INSIDE,
    neighbour: () => ({ layers: [logger()] }),
    // It logs all fields.
    route: { strip: ['x-request-id'], allowReads: ['cookie', 'authorization'] },
    entries: 1,
    differs: { 'x-request-id': 'stripped' },
  },
  {
    says: 'express-rate-limit: each client has its own count, and a 429 is its own',
    places: OUTSIDE,
    neighbour: () => ({ layers: [limits()] }),
    entries: 1,
    differs: reset,
  },
  {
    says: 'express-rate-limit with its fields stripped: the limit counts loads',
    places: INSIDE,
    neighbour: () => ({
      layers: [rateLimit({ limit: 1000, validate: false, standardHeaders: 'draft-6', legacyHeaders: false })],
    }),
    route: { strip: limitFields },
    entries: 1,
    differs: inner,
  },
  {
    says: 'hpp: one stored page, and repeated parameters are one answer',
    places: EVERYWHERE,
    neighbour: () => ({ layers: [hpp()] }),
    text: ({ query }) => `${TEXT_FOR} ${JSON.stringify(query)}`,
    entries: 1,
    extra: [ANN, BOB].map((who) => ({ who, path: '/page?size=1&size=2' })),
  },
  {
    says: 'method-override: a POST that says PUT is a PUT, and a GET is a GET',
    places: OUTSIDE,
    neighbour: () => ({ layers: [methodOverride('X-HTTP-Method-Override')] }),
    entries: 1,
    extra: [
      { who: ANN, method: 'POST', headers: { 'x-http-method-override': 'PUT' } },
      { who: BOB, headers: { 'x-http-method-override': 'DELETE' } },
      { who: GUEST },
    ],
  },
  {
    says: 'serve-favicon: page and icon as without a cache',
    places: ['before the cache of a route', 'before the cache of the app', 'behind the cache of the app'],
    neighbour: () => ({ layers: [favicon(ICON)] }),
    entries: 1,
    extra: icons,
  },
  {
    says: 'express.static: one stored copy of a file, with its entity-tag',
    places: EVERYWHERE,
    neighbour: () => {
      const send = express.static(import.meta.dirname ?? __dirname)
      return {
        layers: [(_req, _res, next) => next()],
        handler(req, res, next) {
          req.url = '/script.ts'
          send(req, res, next)
        },
      }
    },
    entries: 1,
  },
  {
    says: 'errorhandler at the end: each client gets the error of its own request',
    places: ['before the cache of a route', 'before the cache of the app'],
    neighbour: () => ({
      layers: [
        (req, _res, next) => {
          next(req.path === '/broken' ? new Error(`broken for ${req.headers['user-agent']}`) : undefined)
        },
      ],
      last: [errorhandler({ log: false })],
    }),
    entries: 1,
    extra: [ANN, BOB, GUEST].map((who) => ({ who, path: '/broken', headers: { accept: 'application/json' } })),
  },
]

const TEXT_FOR = 'The page for'

function logger(): HttpLogger {
  return pinoHttp(
    {
      genReqId(_req: IncomingMessage, res: ServerResponse) {
        const id = randomUUID()
        res.setHeader('x-request-id', id)
        return id
      },
    },
    { write: () => undefined },
  )
}

describe.each(EXPRESS)('neighbours that add fields, on %s', (_version, make) => {
  testCases(cases(rows), (place, row) => expressApp(make, place, row))
})
