// Compiled in CI, never run: what users write must infer, and what is wrong must not compile.
import type { Cache } from '@cattlegrid/core'
import express, { type Request, Router } from 'express'
import { type Cached, expressCache } from '../src/index.ts'

declare const cache: Cache

const app = express()
const cached: Cached = expressCache(cache)
expressCache(cache, { staleIfError: '1h', cacheStatus: 'edge', skip: (req) => req.query['preview'] !== undefined })

app.use(cached())
app.use('/part', cached({ ttl: 'origin' }), Router())
Router().get('/a', cached({ ttl: 1000 }), (_req, res) => void res.send('a'))

/** The route's own parameters stay as they were inferred from its path. */
app.get('/products/:id', cached({ ttl: '30s', staleWhileRevalidate: '5m' }), (req, res) => {
  const id: string = req.params.id
  // @ts-expect-error the path has no such parameter
  const none: string = req.params.name
  res.json({ id, none })
})

app.get<{ id: string }, { id: number }, object, { page: string }>('/typed/:id', cached({ ttl: '30s' }), (req, res) => {
  const page: string = req.query.page
  // @ts-expect-error the reply is an object with a number
  res.json({ id: page })
})

/** The functions among the options see Express' request, as much of it as they ask for. */
cached({ ttl: (req, res) => (req.params['id'] === '1' && res.statusCode === 200 ? '1m' : undefined) })
cached({ skip: (req: Request) => req.get('x-preview') !== undefined })
cached({ ttl: (req: Request<{ id: string }>) => (req.params.id === '1' ? 1000 : 0) })
cached({ ttl: undefined, negativeTtl: false, softTimeout: false })

// @ts-expect-error no unit of ours
cached({ ttl: '30 parsecs' })
// @ts-expect-error an option that nobody knows
cached({ timeToLive: '30s' })
// @ts-expect-error not a boolean
cached({ skip: () => 'no' })
// @ts-expect-error which errors count is not a route's to say
cached({ ttl: '1s', isFailure: () => true })
// @ts-expect-error a window is a duration
cached({ staleIfError: true })
// @ts-expect-error the cache has no default
expressCache()

/** What a handler says, and what a route keys on. */
app.get(
  '/word',
  cached({ key: { headers: ['x-tenant'], extra: (req) => req.hostname }, query: ['page'] }),
  (_req, res) => {
    res.cattlegrid.keep({ ttl: '1m', tags: ['a'] })
    res.cattlegrid.noStore()
    // @ts-expect-error no unit of ours
    res.cattlegrid.keep({ ttl: '1 minute' })
  },
)
cached({
  query: { ignore: ['utm_source'] },
  tags: (req) => [`page:${req.path}`],
  onError: (error) => error.status === 504,
})
app.post('/purge', cached.purge({ authorize: (req: Request) => req.get('x-purger') === 'yes' }))
// @ts-expect-error whether they mean anything is not a yes or no
cached({ authorization: true })
