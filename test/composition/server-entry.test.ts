import { type IncomingMessage, type RequestListener, type Server, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { expressCache, isRefresh } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { describe, expect, test } from '@jest/globals'
import express, { type Express } from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import { eventsDuring } from '../../packages/testkit/src/adapter-contract/warnings.ts'
import { ask } from '../wire.ts'

type Tenanted = IncomingMessage & { tenant?: string | undefined }

interface Shop {
  readonly server: Server
  readonly listen: () => Promise<void>
  readonly close: () => Promise<void>
}

interface Visit {
  readonly runtime: ManualRuntime
  readonly server: Server
  page(method?: string): Promise<string>
  /** Lets the entry expire and be refreshed. */
  refresh(): Promise<void>
}

const route = { ttl: '1s', staleWhileRevalidate: '10m' } as const

/** An outer layer: what is inside answers by what it found out. */
const setTenant = (req: Tenanted): void => {
  req.tenant = req.headers.host ?? ''
}
const pricesOf = (req: Tenanted): string => `prices of ${req.tenant ?? 'nobody'}`

function shopOf(server: Server): Shop {
  return {
    server,
    listen: () => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)),
    close: async () => {
      const closed = new Promise<unknown>((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function innerApp(make: () => Express, cache: Cache): Express {
  const inner = make()
  inner.get('/prices', expressCache(cache)(route), (req, res) => void res.send(pricesOf(req)))
  return inner
}

const outerApp =
  (make: () => Express) =>
  async (cache: Cache): Promise<Shop> => {
    const inner = innerApp(make, cache)
    const outer = make()
    outer.use((req, _res, next) => {
      setTenant(req)
      next()
    })
    // As vhost does.
    outer.use((req, res, _next) => {
      inner(req, res)
    })
    return shopOf(createServer(outer))
  }

const LAYOUTS: readonly (readonly [string, (cache: Cache) => Promise<Shop>])[] = [
  ['an Express app that another one calls', outerApp(express)],
  ['an Express 4 app that another one calls', outerApp(express4)],
  [
    'an Express app that a listener of the server calls',
    async (cache) => {
      const app = innerApp(express, cache)
      const listener: RequestListener = (req, res) => {
        setTenant(req)
        app(req, res)
      }
      return shopOf(createServer(listener))
    },
  ],
  [
    'two listeners of one server',
    async (cache) => {
      const server = createServer(innerApp(express, cache))
      server.prependListener('request', setTenant)
      return shopOf(server)
    },
  ],
  [
    'the serverFactory of Fastify',
    async (cache) => {
      let server: Server | undefined
      const app = Fastify({
        forceCloseConnections: true,
        serverFactory: (handle) =>
          (server = createServer((req, res) => {
            setTenant(req)
            handle(req, res)
          })),
      })
      await app.register(cattlegrid, { cache, close: false })
      app.get('/prices', { config: { cache: route } }, async ({ raw }) => pricesOf(raw))
      await app.ready()
      return { ...shopOf(server ?? createServer()), close: () => app.close() }
    },
  ],
]

async function visiting(
  build: (cache: Cache) => Promise<Shop>,
  play: (visit: Visit) => Promise<void>,
  loadTimeout: string = '10s',
): Promise<void> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }), loadTimeout: loadTimeout as '10s' })
  const seen = { outcomes: 0 }
  cache.on('outcome', () => {
    seen.outcomes += 1
  })
  const { server, listen, close } = await build(cache)
  await listen()
  const { port } = server.address() as AddressInfo
  const page = async (method: string = 'GET'): Promise<string> =>
    (await ask(port, '/prices', { method, headers: { host: 'acme.test' } })).body.toString()
  const refresh = async (): Promise<void> => {
    const { outcomes } = seen
    await runtime.advance(2000)
    await page()
    for (let turn = 0; turn < 2000 && seen.outcomes === outcomes; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      await runtime.advance(20)
    }
  }
  try {
    await play({ runtime, server, page, refresh })
  } finally {
    await close()
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

describe.each(LAYOUTS)('a request of the cache’s own, with %s', (_layout, build) => {
  test('passes the layers outside when it refreshes', async () => {
    await visiting(build, async ({ page, refresh }) => {
      const texts = [await page()]
      await refresh()
      texts.push(await page())
      expect(texts).toEqual(Array(2).fill('prices of acme.test'))
    })
  })

  test('passes the layers outside when it fills a cold key for HEAD', async () => {
    await visiting(build, async ({ page }) => {
      await page('HEAD')
      expect(await page()).toBe('prices of acme.test')
    })
  })
})

/** The server of an app of its own, whose listener does this with a refresh. */
const withListener =
  (onRefresh: (req: IncomingMessage, next: () => void) => void) =>
  async (cache: Cache): Promise<Shop> => {
    const app = innerApp(express, cache)
    const listener: RequestListener = (req, res) => {
      setTenant(req)
      if (isRefresh(req)) onRefresh(req, () => app(req, res))
      else app(req, res)
    }
    return shopOf(createServer(listener))
  }

describe('a refresh that enters by the server', () => {
  test('is a request to that server, on a connection of its own', async () => {
    const servers: unknown[] = []
    const addresses: unknown[] = []
    const build = withListener((req, next) => {
      servers.push(Reflect.get(req.socket, 'server'))
      addresses.push(req.socket.remoteAddress)
      next()
    })
    await visiting(build, async ({ page, refresh, server }) => {
      await page()
      await refresh()
      // Not `toEqual`: a difference between servers is endless to print.
      expect(servers.map((one) => one === server)).toEqual([true])
      expect(addresses).toEqual(['127.0.0.1'])
    })
  })

  test('opens and closes a connection for listeners that count them', async () => {
    await visiting(
      withListener((_req, next) => next()),
      async ({ page, refresh, server }) => {
        await page()
        const requests = new Map<Socket, number>()
        const counts: unknown[] = []
        // As stoppable counts the requests that a connection has open.
        server.on('connection', (socket) => {
          requests.set(socket, 0)
          socket.once('close', () => requests.delete(socket))
        })
        server.on('request', (req) => {
          const open = (requests.get(req.socket) ?? Number.NaN) + 1
          requests.set(req.socket, open)
          if (isRefresh(req)) counts.push(open)
        })
        await refresh()
        expect(counts).toEqual([1])
        expect([...requests.keys()].filter((socket) => socket.destroyed).length).toBe(0)
      },
    )
  })

  test('is one connection for a listener that waits for one', async () => {
    await visiting(
      withListener((_req, next) => next()),
      async ({ page, refresh, server }) => {
        await page()
        let connections = 0
        server.once('request', () =>
          server.once('connection', () => {
            connections += 1
          }),
        )
        await refresh()
        await refresh()
        expect(connections).toBe(1)
      },
    )
  })

  test('is no less a refresh where a listener to connections fails at its connection', async () => {
    await visiting(
      withListener((_req, next) => next()),
      async ({ page, refresh, server }) => {
        await page()
        server.on('connection', (socket) => socket.connect.name)
        expect(await eventsDuring('cattlegrid:refresh-rejected', refresh)).toEqual([])
      },
    )
  })

  test('is rejected where a listener to connections refuses them', async () => {
    await visiting(
      withListener((_req, next) => next()),
      async ({ page, refresh, server }) => {
        await page()
        let connections = 0
        server.on('connection', (socket) => {
          connections += 1
          if (connections === 2) socket.destroy()
        })
        const events = await eventsDuring('cattlegrid:refresh-rejected', refresh)
        expect(events).toMatchObject([{ why: 'unreached' }])
        expect(await page()).toBe('prices of acme.test')
      },
    )
  })

  test('is rejected at loadTimeout where no listener passes it on', async () => {
    await visiting(
      withListener(() => undefined),
      async ({ page, refresh }) => {
        await page()
        const events = await eventsDuring('cattlegrid:refresh-rejected', refresh)
        expect(events).toMatchObject([{ why: 'unreached', status: undefined }])
        expect(await page()).toBe('prices of acme.test')
      },
      '2s',
    )
  })
})
