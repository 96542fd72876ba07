import { Script } from 'node:vm'
import { createCache } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import express, { type Express, type RequestHandler } from 'express'
import * as fc from 'fast-check'
import supertest from 'supertest'
import { cases } from '../../../test/support/properties.ts'
import { expressCache, type RouteOptions } from '../src/index.ts'
import { onSite } from './support/site.ts'

/** What a handler does in one run with what it knows of its client. */
interface Handling {
  /** Whether its answer is about the client: then nobody else may see it. */
  readonly personal: 'cookie' | 'private' | 'no-store' | 'noStore()' | 'vary' | '401' | 'no'
  readonly status: 200 | 404 | 500
  readonly maxAge: number | undefined
  readonly late: boolean
  readonly stream: boolean
}

interface Asking {
  readonly user: 'ada' | 'bob'
  readonly credentials: boolean
  readonly method: 'get' | 'head'
  readonly headers: Readonly<Record<string, string>>
}

interface Scene {
  readonly options: RouteOptions
  readonly handling: readonly Handling[]
  /** Each inner list asks at once. */
  readonly rounds: readonly (readonly Asking[])[]
}

const scene: fc.Arbitrary<Scene> = fc.record({
  options: fc.record(
    {
      ttl: fc.constantFrom('1h', 'origin'),
      staleWhileRevalidate: fc.constantFrom(0, '1h'),
      staleIfError: fc.constantFrom(0, '1h'),
      revalidate: fc.boolean(),
      range: fc.boolean(),
      query: fc.constantFrom(true, false),
      refresh: fc.constantFrom('behind', 'inline'),
    },
    { requiredKeys: ['ttl'] },
  ) as fc.Arbitrary<RouteOptions>,
  handling: fc.array(
    fc.record({
      personal: fc.constantFrom('cookie', 'private', 'no-store', 'noStore()', 'vary', '401', 'no'),
      status: fc.constantFrom(200, 200, 404, 500),
      maxAge: fc.constantFrom(undefined, 0, 60),
      late: fc.boolean(),
      stream: fc.boolean(),
    } as const),
    { minLength: 1, maxLength: 4 },
  ),
  rounds: fc.array(
    fc.array(
      fc.record({
        user: fc.constantFrom('ada', 'bob'),
        credentials: fc.boolean(),
        method: fc.constantFrom('get', 'get', 'head'),
        headers: fc.record(
          {
            'if-none-match': fc.constantFrom('*', 'W/"1"'),
            range: fc.constant('bytes=0-3'),
            'cache-control': fc.constantFrom('no-cache', 'only-if-cached'),
            'x-forwarded-host': fc.constantFrom('ada', 'bob'),
            'x-http-method-override': fc.constant('POST'),
          },
          { requiredKeys: [] },
        ),
      } as const),
      { minLength: 1, maxLength: 4 },
    ),
    { minLength: 2, maxLength: 4 },
  ),
})

/** Answers with the name of its client where it is personal, else with nothing of his. */
function handler(handling: readonly Handling[]): RequestHandler {
  let run = 0
  return (req, res) => {
    const { personal, status, maxAge, late, stream } = handling[run++ % handling.length] ?? handling[0] ?? never()
    const user = String(req.headers['x-user'])
    const answer = (): void => {
      if (personal === 'cookie') res.cookie('user', user)
      if (personal === 'private' || personal === 'no-store') res.set('cache-control', `${personal}, max-age=60`)
      else if (maxAge !== undefined) res.set('cache-control', `max-age=${maxAge}`)
      if (personal === 'vary') res.vary('X-User')
      if (personal === 'noStore()') res.cattlegrid.noStore()
      const body = personal === 'no' && req.headers.authorization === undefined ? 'for everybody' : `for ${user}`
      res.status(personal === '401' ? 401 : status)
      if (stream) {
        res.write(body)
        setImmediate(() => res.end())
      } else res.send(body)
    }
    if (late) setTimeout(answer, 1)
    else answer()
  }
}

function never(): never {
  throw new Error('a scene without a handler')
}

async function play({ options, handling, rounds }: Scene): Promise<void> {
  const cache = createCache()
  const app: Express = express()
  app.set('env', 'test')
  app.get('/', expressCache(cache)(options), handler(handling))
  const server = app.listen(0, '127.0.0.1')
  try {
    for (const round of rounds) await Promise.all(round.map((asking) => expectOwn(supertest(server), asking)))
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await cache.close({ drain: 100 })
  }
}

async function expectOwn(agent: ReturnType<typeof supertest>, asking: Asking): Promise<void> {
  const { user, credentials, method, headers } = asking
  const authorization: Record<string, string> = credentials ? { authorization: `Bearer ${user}` } : {}
  const response = await agent[method]('/').set({ 'x-user': user, ...headers, ...authorization })
  const other = user === 'ada' ? 'bob' : 'ada'
  expect([response.text ?? '', response.headers['set-cookie'] ?? []].flat().join(' ')).not.toContain(other)
}

describe('two users', () => {
  test('never see each other’s cookies or bodies, whatever handlers, requests and options come together', async () => {
    await fc.assert(fc.asyncProperty(scene, play), { numRuns: cases(150) })
  })
})

test('a package that sets the session and reads the user makes the response personal', async () => {
  const source = `(req, res) => {
    req.session = {}
    res.end('for ' + req.user)
  }`
  // A package of the application, by its file.
  const greet = new Script(source, {
    filename: '/app/node_modules/greeter/index.js',
  }).runInThisContext() as RequestHandler
  await onSite(
    (app, cached) => {
      app.use((req, _res, next) => {
        Object.assign(req, { user: req.headers['x-user'] })
        next()
      })
      app.get('/a', cached({ ttl: '1m' }), greet)
    },
    async ({ get }) => {
      for (const user of ['ann', 'bob']) expect((await get('/a').set('x-user', user)).text).toBe(`for ${user}`)
    },
  )
})
