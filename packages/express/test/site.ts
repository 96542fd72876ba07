import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Cache, type CacheOptions, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import express, { type Express } from 'express'
import supertest, { type Test } from 'supertest'
import { type Cached, expressCache } from '../src/index.ts'

/** A running Express app with a cache whose time stands still. */
export interface Site {
  readonly runtime: ManualRuntime
  readonly cache: Cache
  readonly server: Server
  readonly port: number
  get(path: string): Test
  head(path: string): Test
  /** So many clients at once. */
  crowd(size: number, path: string): Promise<readonly supertest.Response[]>
  /** How often the cache took such a step. */
  count(event: 'load' | 'commit' | 'join' | 'hit' | 'outcome'): number
  seen(event: 'load' | 'commit' | 'join' | 'hit' | 'outcome', times: number): Promise<void>
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
  const cache = createCache({ runtime, store: memoryStore({ runtime }), ...options })
  const app = make()
  app.set('env', 'test')
  build(app, expressCache(cache), cache)
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await play(siteOf(server, cache, runtime))
  } finally {
    const ended = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await ended
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

function siteOf(server: Server, cache: Cache, runtime: ManualRuntime): Site {
  const counts = { load: 0, commit: 0, join: 0, hit: 0, outcome: 0 }
  for (const event of ['load', 'commit', 'join', 'hit', 'outcome'] as const)
    cache.on(event, () => {
      counts[event] += 1
    })
  const { port } = server.address() as AddressInfo
  const agent = supertest(`http://127.0.0.1:${port}`)
  return {
    runtime,
    cache,
    server,
    port,
    get: (path) => agent.get(path),
    head: (path) => agent.head(path),
    crowd: (size, path) => Promise.all(Array.from({ length: size }, () => agent.get(path))),
    count: (event) => counts[event],
    seen: (event, times) => until(() => counts[event] >= times),
  }
}

/** Waits until something has become true. */
export async function until(holds: () => boolean): Promise<void> {
  const started = Date.now()
  while (!holds()) {
    if (Date.now() - started > 10_000) throw new Error(`waited in vain until ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
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
