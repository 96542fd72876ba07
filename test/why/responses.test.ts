import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express, { type Express, type RequestHandler } from 'express'
import session from 'express-session'

// Each app has the fault of one row of docs/why-not-cached.md. What the row names must tell it without the source.

const cache = createCache({ name: 'why' })
const cached = expressCache(cache, { cacheStatus: true })

/** The `Cache-Status` of the second request to a path. */
async function statusOf(app: Express, path: string): Promise<string | null> {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  try {
    await (await fetch(url)).text()
    const second = await fetch(url)
    await second.text()
    return second.headers.get('cache-status')
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const send: RequestHandler = (_req, res) => void res.send('page')

// A session outside adds its cookie after the cache has written its field: the reason is in the metrics and the debug log.
test('a session that gives each visitor a cookie: unleased, and the outcome of the load is set-cookie', async () => {
  const reasons: unknown[] = []
  const off = cache.on('outcome', ({ outcome }) => reasons.push('why' in outcome ? outcome.why : outcome.kind))
  const app = express()
  app.use(session({ secret: 'change me', resave: false, saveUninitialized: true }))
  app.get('/', cached({ ttl: '30s' }), send)
  expect(await statusOf(app, '/')).toBe('cattlegrid; fwd=uri-miss; detail=unleased')
  off()
  expect(reasons).toContain('set-cookie')
})

test('app mode, and a response without a lifetime: no-freshness', async () => {
  const app = express()
  app.use(cached())
  app.get('/', send)
  expect(await statusOf(app, '/')).toBe('cattlegrid; fwd=uri-miss; detail=no-freshness')
})

test('a login check between the cache and the handler: personal', async () => {
  const app = express()
  const guard: RequestHandler = (req, res, next) => {
    if (req.headers.cookie === 'banned') res.status(403).end()
    else next()
  }
  app.get('/', cached({ ttl: '30s' }), guard, send)
  expect(await statusOf(app, '/')).toBe('cattlegrid; fwd=uri-miss; detail=personal')
})

test('a handler that reads its user: personal', async () => {
  const app = express()
  app.get('/', cached({ ttl: '30s' }), (req, res) => void res.json({ user: req.user ?? null }))
  expect(await statusOf(app, '/')).toBe('cattlegrid; fwd=uri-miss; detail=personal')
})

test('a query of more than 8 KiB: key-too-long', async () => {
  const app = express()
  app.get('/', cached({ ttl: '30s' }), send)
  expect(await statusOf(app, `/?filter=${'x'.repeat(9000)}`)).toBe('cattlegrid; fwd=bypass; detail=key-too-long')
})
