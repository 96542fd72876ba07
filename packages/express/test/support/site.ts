import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Cache, type CacheOptions, createCache, memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import express, { type Express } from 'express'
import supertest, { type Test } from 'supertest'
import { until } from '../../../../test/support/until.ts'
import { type Cached, expressCache } from '../../src/index.ts'

export { until }

const COUNTED_EVENTS = ['load', 'commit', 'join', 'hit', 'miss', 'outcome'] as const
type CountedEvent = (typeof COUNTED_EVENTS)[number]

/** A running Express app with a cache whose time stands still. */
export interface Site {
  readonly runtime: ManualRuntime
  readonly cache: Cache
  /** Of a site whose options name no other one. */
  readonly store: Store
  readonly server: Server
  readonly port: number
  get(path: string): Test
  head(path: string): Test
  /** So many clients at once. */
  crowd(size: number, path: string): Promise<readonly supertest.Response[]>
  /** How often the cache took such a step. */
  count(event: CountedEvent): number
  seen(event: CountedEvent, times: number): Promise<void>
}

type Build = (app: Express, cached: Cached, cache: Cache) => void

/** `make`: makes the app of one of Express' versions. */
export async function onSite(
  build: Build,
  play: (site: Site) => Promise<void>,
  options: CacheOptions = {},
  make: () => Express = express,
): Promise<void> {
  const runtime = createManualRuntime()
  const store = memoryStore({ runtime })
  const cache = createCache({ runtime, store, ...options })
  const app = make()
  app.set('env', 'test')
  build(app, expressCache(cache), cache)
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await play(siteOf(server, cache, store, runtime))
  } finally {
    const ended = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await ended
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

function siteOf(server: Server, cache: Cache, store: Store, runtime: ManualRuntime): Site {
  const counts = { load: 0, commit: 0, join: 0, hit: 0, miss: 0, outcome: 0 }
  for (const event of COUNTED_EVENTS)
    cache.on(event, () => {
      counts[event] += 1
    })
  const { port } = server.address() as AddressInfo
  const agent = supertest(`http://127.0.0.1:${port}`)
  return {
    runtime,
    cache,
    store,
    server,
    port,
    get: (path) => agent.get(path),
    head: (path) => agent.head(path),
    crowd: (size, path) => Promise.all(Array.from({ length: size }, () => agent.get(path))),
    count: (event) => counts[event],
    seen: (event, times) => until(() => counts[event] >= times),
  }
}

/** Holds a handler back until it is opened. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
