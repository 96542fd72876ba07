// The application that the shutdown recipes of docs/operations.md take for granted: once on Express, once on Fastify.
import { createCache, type Duration, type Load } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import { redisStore } from '@cattlegrid/redis'
import createExpress, { type Express } from 'express'
import createFastify, { type FastifyInstance } from 'fastify'
import { createClient } from 'redis'

const { SHOP_REDIS = '', SHOP_NAMESPACE = '', SHOP_ORIGIN = '', SHOP_TTL = '1h', SHOP_LEASE = '30s' } = process.env
// Redis gets no turn for a while on a busy machine: it is slow then, not away.
const { SHOP_STORE_TIMEOUT = '10s' } = process.env
const ttl = SHOP_TTL as Duration
const behind = { ttl: '1ms', staleWhileRevalidate: '1h' } as const
const freshOnly = { staleWhileRevalidate: false } as const

export const client = createClient({ url: SHOP_REDIS })
client.on('error', () => {})
await client.connect()

export const cache = createCache({
  store: redisStore({ client, namespace: SHOP_NAMESPACE }),
  storeTimeout: SHOP_STORE_TIMEOUT as Duration,
  waitTimeout: '1m',
  ttl,
  lease: { duration: SHOP_LEASE as Duration, maxHold: '1h' },
})

async function ask(name: string): Promise<string> {
  const response = await fetch(`${SHOP_ORIGIN}/${name}`)
  return await response.text()
}

/** `/fn/…` waits for a fresh value of the cache of functions, `/behind/…` has a stale one of it as soon as there is one. */
function answer(way: string, name: string): Promise<string> {
  const loader = (load: Load<string>): Promise<string> => ask(load.key)
  return cache.getOrSet(name, loader, way === 'fn' ? freshOnly : behind)
}

/** `/value/…` is a cached route; two frameworks share no answers, so each names its own to the origin. */
export function expressApp(): Express {
  const cached = expressCache(cache)
  const app = createExpress().set('trust proxy', true)
  app.get('/value/:name', cached({ ttl }), async (req, res) => void res.send(await ask(`express-${req.params.name}`)))
  app.get('/:way/:name', async (req, res) => void res.send(await answer(req.params.way, req.params.name)))
  return app
}

export async function fastifyApp(): Promise<FastifyInstance> {
  const app = createFastify({ trustProxy: true })
  await app.register(cattlegrid, { cache })
  type Asked = { Params: { way: string; name: string } }
  app.get<Asked>('/value/:name', { config: { cache: { ttl } } }, (req) => ask(`fastify-${req.params.name}`))
  app.get<Asked>('/:way/:name', { config: { cache: false } }, (req) => answer(req.params.way, req.params.name))
  return app
}
