// Compiled in CI, never run: what users write must infer, and what is wrong must not compile.
import type { Cache } from '@cattlegrid/core'
import Fastify, { type FastifyContextConfig, type FastifyReply, type FastifyRequest } from 'fastify'
import cattlegrid, {
  cached,
  type Cattlegrid,
  type CattlegridOptions,
  type FastifyRouteOptions,
  type PurgeOptions,
  type ResponseDirectives,
  type RouteOptions,
  type ServeError,
} from '../src/index.ts'

declare const cache: Cache

const app = Fastify()
await app.register(cattlegrid, { cache })
await app.register(cattlegrid, { cache, prefix: '/child', defaults: { ttl: '10s', cacheStatus: true } })
await app.register(import('../src/index.ts'), { cache })

// @ts-expect-error the cache has no default
await app.register(cattlegrid, {})
// @ts-expect-error an option that nobody knows
await app.register(cattlegrid, { cache, ttl: '10s' })

const shared: Cache = app.cattlegrid.cache
export { shared }

app.get('/a', { config: { cache: { ttl: '30s', staleWhileRevalidate: '5m' } } }, async () => 'a')
app.get('/b', { config: { cache: false } }, async () => 'b')
app.get('/c', { config: { cache: { ttl: 'origin' } } }, async () => 'c')
app.get(
  '/d',
  { config: { cache: { ttl: (request, reply) => (request.method === 'GET' && reply.statusCode === 200 ? 1000 : 0) } } },
  async () => 'd',
)
app.get('/e', { config: { cache: { skip: ({ headers }) => headers['x-skip'] !== undefined } } }, async () => 'e')

// @ts-expect-error no unit of ours
app.get('/f', { config: { cache: { ttl: '30 parsecs' } } }, async () => 'f')
// @ts-expect-error true says nothing: which ttl?
export const told: FastifyContextConfig['cache'] = true

/** The parameters are texts where the route does not say more. */
app.get(
  '/g/:id',
  { config: { cache: { tags: ({ params }) => [`product:${params['id']}`], skip: ({ query }) => 'draft' in query } } },
  async () => 'g',
)

/** `cached` refuses what Fastify takes for a setting of the app's own, and knows the types of the route. */
app.get('/h', { config: { cache: { ttl: '30s', staleWhileRevalidat: '5m' } } }, async () => 'Fastify allows it')
// @ts-expect-error a misspelt option
app.get('/h', { config: { cache: cached({ ttl: '30s', staleWhileRevalidat: '5m' }) } }, async () => 'h')
// @ts-expect-error no unit of ours
app.get('/h', { config: { cache: cached({ ttl: '30 parsecs' }) } }, async () => 'h')
app.get('/h', { config: { cache: cached({ ttl: '30s', cache, phase: 'onRequest' }) } }, async () => 'h')
interface Item {
  Params: { id: string }
}
app.get<Item>(
  '/h/:id',
  { config: { cache: cached<Item>({ ttl: '30s', tags: ({ params }) => [params.id] }) } },
  async ({ params }) => params.id,
)
export const ofItem = cached({ ttl: '30s', key: { extra: ({ params }: FastifyRequest<Item>) => params.id } })
// @ts-expect-error an item has no name
cached<Item>({ ttl: '30s', tags: ({ params }) => [params.name] })

/** A route's own types stay as they were. */
app.get<{ Params: { id: string }; Reply: { id: string } }>(
  '/items/:id',
  { config: { cache: { ttl: '30s' } } },
  async (request, reply) => {
    const id: string = request.params.id
    // @ts-expect-error the reply is an item
    if (id === '') return reply.send({ no: 1 })
    return { id }
  },
)

export const options: CattlegridOptions = { cache, defaults: undefined }
export const route: FastifyRouteOptions = { ttl: undefined, staleIfError: '1h' }

/** What a handler says, and what a route keys on. */
app.get(
  '/word',
  { config: { cache: { key: { extra: ({ hostname }) => hostname }, phase: 'onRequest' } } },
  async (_, reply) => {
    reply.cattlegrid.keep({ ttl: '1m', tags: ['a'] })
    reply.cattlegrid.noStore()
    // @ts-expect-error no unit of ours
    reply.cattlegrid.keep({ ttl: '1 minute' })
    return 'word'
  },
)
app.post('/purge', app.cattlegrid.purge({ authorize: ({ headers }) => headers['x-purger'] === 'yes' }))

/** What an app names when it passes these on. */
const members: Cattlegrid = app.cattlegrid
const purge: PurgeOptions<FastifyRequest> = { authorize: ({ ip }) => ip === '127.0.0.1' }
members.purge(purge)
export const keepsAll = (directives: ResponseDirectives): void => directives.keep({ ttl: '1m' })
export const anyRoute: RouteOptions<FastifyRequest, FastifyReply> = { ttl: '1m', skip: ({ url }) => url === '/' }
export const retryAfter = ({ headers }: ServeError): string | undefined => headers['retry-after']
