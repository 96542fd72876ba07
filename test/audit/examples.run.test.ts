import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve as pathTo } from 'node:path'
import { type Cache, createCache } from '@cattlegrid/core'
import type * as routes from '../../packages/http/src/route/route.ts'
import { afterEach, expect, jest, test } from '@jest/globals'
import { eventsDuring, warningsDuring } from '../../packages/testkit/src/adapter-contract/warnings.ts'
import type { Catalogue } from '../../examples/product-api/src/catalogue.ts'
import { freePort } from '../free-port.ts'
import { until } from '../support/until.ts'

// The examples have no audit of their own: each route gets one, before the apps are imported. At a rate of 0.001,
// 10,000 requests would be ten audits; these are hundreds.
jest.doMock('../../packages/http/src/route/route.ts', () => {
  const actual = jest.requireActual<typeof routes>('../../packages/http/src/route/route.ts')
  const compileRoute: typeof routes.compileRoute = (owner, http, defaults, options) =>
    actual.compileRoute(owner, http, { audit: { rate: 0.1 }, ...defaults }, options)
  return { ...actual, compileRoute }
})

const PRODUCT = { id: 7, name: 'gate', category: 'fences', priceCents: 1999 }
const catalogue: Catalogue = {
  list: async (page) => ({ page, products: [PRODUCT] }),
  product: async () => PRODUCT,
  ranking: async () => ({ ranking: [] }),
  update: async () => PRODUCT,
}

/** The origin of the proxy: its pages vary, expire and are compared by tags. */
const origin = createServer((req, res) => {
  res.setHeader('cache-control', 'public, max-age=1')
  res.setHeader('vary', 'accept-language')
  res.setHeader('x-made-by', 'the origin')
  res.end(`${req.url} in ${req.headers['accept-language']}`)
})

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).toReversed()) await end()
})

async function listening(server: Server): Promise<string> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  toEnd.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function ask(url: string, agent: Agent, client: number): Promise<unknown> {
  const headers = {
    cookie: `session=${client}`,
    'accept-language': client % 2 === 0 ? 'de' : 'en',
    'user-agent': `client ${client}`,
    'x-member-key': 'gate-7',
  }
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (response) => response.resume().once('end', () => resolve(response.statusCode)))
      .once('error', reject)
      .end()
  })
}

/** Four clients ask at a time. */
async function askTimes(times: number, url: string, paths: readonly string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  for (let turn = 0; turn < times; turn += 4)
    await Promise.all(
      [0, 1, 2, 3].map((client) => ask(`${url}${paths[(turn + client) % paths.length]}`, agent, client)),
    )
  agent.destroy()
}

const apps: Readonly<Record<string, (cache: Cache) => Promise<Server>>> = {
  'product-api on Express': async (cache) => {
    const { createExpressApp } = await import('../../examples/product-api/src/express-app.ts')
    return createServer(createExpressApp(catalogue, cache) as RequestListener)
  },
  'product-api on Fastify': async (cache) => {
    const { createFastifyApp } = await import('../../examples/product-api/src/fastify-app.ts')
    const app = await createFastifyApp(catalogue, cache)
    await app.ready()
    return app.server
  },
  'reverse-proxy': async (cache) => {
    const { createProxy } = await import('../../examples/reverse-proxy/src/proxy.ts')
    const proxy = createProxy(new URL(await listening(origin)), cache)
    toEnd.push(() => proxy.close())
    return createServer(proxy.app as RequestListener)
  },
}

test.each(Object.entries(apps))('3,000 requests to %s raise no alarm', async (_, open) => {
  const cache = createCache({ ttl: '1s' })
  toEnd.push(() => cache.close())
  const url = await listening(await open(cache))
  const results: unknown[] = []
  const warnings = await warningsDuring('CATTLEGRID_AUDIT', async () => {
    const events = await eventsDuring('cattlegrid:audit', () =>
      askTimes(3000, url, ['/products?page=1', '/products?page=2', '/ranking', '/strict/ranking']),
    )
    results.push(...events.map((event) => Reflect.get(event, 'result') as unknown))
  })
  expect(warnings).toEqual([])
  // On a slow machine an anonymous request may come too late: that compares nothing.
  expect(new Set(results.filter((result) => result !== 'not-run'))).toEqual(new Set(['equal']))
  expect(results.filter((result) => result === 'equal').length).toBeGreaterThan(50)
})

test.each(['express-minimal', 'fastify-minimal', 'h3-minimal', 'hono-minimal', 'nestjs-minimal'])(
  '400 requests to %s in development raise no alarm',
  async (example) => {
    const port = await freePort()
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/server.ts'], {
      cwd: pathTo('examples', example),
      env: { ...process.env, NODE_ENV: 'development', PORT: String(port), REDIS_URL: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = once(child, 'exit')
    toEnd.push(() => child.kill('SIGKILL') && exited)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    await until(() => output.includes(`http://localhost:${port}/products`))
    await askTimes(400, `http://localhost:${port}`, ['/products'])
    expect(output).toContain('reading the products')
    expect(output).not.toMatch(/CATTLEGRID_AUDIT\b(?!_)/)
    // One load for the client, one for the audit. A guard of nestjs-minimal refuses the audit: it asks for a key.
    expect(output.split('reading the products')).toHaveLength(example === 'nestjs-minimal' ? 2 : 3)
  },
)
