import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import express, { type Express } from 'express'
import { expressCache } from '../src/index.ts'

let otherExpressCache: typeof expressCache

beforeAll(async () => {
  await jest.isolateModulesAsync(async () => {
    otherExpressCache = (await import('../src/index.ts')).expressCache
  })
})

async function onServer(app: Express, play: (ask: (path?: string) => Promise<string>) => Promise<void>): Promise<void> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    await play(async (path = '/') => await (await fetch(`http://127.0.0.1:${port}${path}`)).text())
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** An app whose pages count the runs of their handlers. */
function pages(app: Express, name: string): void {
  let runs = 0
  app.get('/', (_req, res) => void res.send(`${name} ${++runs}`))
}

describe('two copies of the package, as its two builds are', () => {
  test('are two', () => {
    expect(otherExpressCache).not.toBe(expressCache)
  })

  test('keep the pages of two apps apart that share a cache', async () => {
    const cache = createCache()
    const [one, other] = [express(), express()]
    one.use(expressCache(cache, { key: { host: false } })({ ttl: '1h' }))
    other.use(otherExpressCache(cache, { key: { host: false } })({ ttl: '1h' }))
    pages(one, 'one')
    pages(other, 'other')
    await onServer(one, async (askOne) => {
      await onServer(other, async (askOther) => {
        expect([await askOne(), await askOther(), await askOne(), await askOther()]).toEqual([
          'one 1',
          'other 1',
          'one 1',
          'other 1',
        ])
      })
    })
    await cache.close()
  })

  test('keep the pages of two routers of one app apart', async () => {
    const cache = createCache()
    const app = express()
    const routers = [express.Router(), express.Router()]
    for (const [index, make] of [expressCache, otherExpressCache].entries()) {
      const router = routers[index] as express.Router
      router.use(make(cache)({ ttl: '1h' }))
      router.get('/', (_req, res) => void res.send(`router ${index}`))
    }
    app.use((req, res, next) => routers[req.query['other'] === undefined ? 0 : 1]?.(req, res, next))
    await onServer(app, async (ask) => {
      const bodies = []
      for (const path of ['/', '/?other', '/', '/?other']) bodies.push(await ask(path))
      expect(bodies).toEqual(['router 0', 'router 1', 'router 0', 'router 1'])
    })
    await cache.close()
  })

  test.each([
    ['one cache', 1],
    ['a cache each', 2],
  ])(
    'nested, with %s, both refresh behind stale pages as one copy does, and no read of theirs is personal',
    async (_which, count) => {
      const warned = jest.spyOn(process, 'emitWarning')
      const alone = await pagesOfNested(expressCache, expressCache, count)
      expect(alone.slice(0, 3)).toEqual(['page 1', 'page 1', 'page 1'])
      expect(new Set(alone).size).toBeGreaterThan(2)
      expect(await pagesOfNested(expressCache, otherExpressCache, count)).toEqual(alone)
      expect(warned).not.toHaveBeenCalled()
      warned.mockRestore()
    },
  )
})

/** What a client gets from two nested layers: at first twice, then once after each expiry. */
async function pagesOfNested(
  outermost: typeof expressCache,
  innermost: typeof expressCache,
  count: number,
): Promise<readonly string[]> {
  const runtime = createManualRuntime()
  const caches = Array.from({ length: count }, () => createCache({ runtime, store: memoryStore({ runtime }) }))
  const [outer, inner] = [caches[0], caches.at(-1)] as [Cache, Cache]
  const options = { ttl: '10s', staleWhileRevalidate: '1h' } as const
  const app = express()
  app.use(outermost(outer)(options))
  app.use(innermost(inner)(options))
  pages(app, 'page')
  const seen: string[] = []
  await onServer(app, async (ask) => {
    seen.push(await ask(), await ask())
    for (let turn = 0; turn < 4; turn += 1) {
      await runtime.advance(11_000)
      const committed = new Promise<void>((resolve) => void outer.on('commit', () => resolve()))
      seen.push(await ask())
      await committed
    }
  })
  return seen
}
