import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import Koa, { type Middleware } from 'koa'
import { ask, type WireAnswer, type WireRequest } from '../../../test/wire.ts'
import { type Cached, koaCache } from '../src/koa-cache.ts'

/** A Koa app on a free port, with a cache whose time the test moves. */
export class Site {
  readonly runtime: ManualRuntime = createManualRuntime()
  readonly cache: Cache = createCache({ runtime: this.runtime, store: memoryStore({ runtime: this.runtime }) })
  readonly cached: Cached = koaCache(this.cache, { cacheStatus: 'c' })
  readonly app = new Koa()
  /** What the app's listeners were told. */
  readonly errors: unknown[] = []
  #server: Server | undefined

  constructor() {
    this.app.keys = ['of a test']
    this.app.on('error', (error) => this.errors.push(error))
  }

  /** Starts the app with these layers; returns its client. */
  async start(...layers: readonly Middleware[]): Promise<(request?: WireRequest) => Promise<WireAnswer>> {
    for (const layer of layers) this.app.use(layer)
    await new Promise<void>((resolve) => {
      this.#server = this.app.listen(0, '127.0.0.1', resolve)
    })
    return (request = {}) => ask(this.port, '/page', request)
  }

  get port(): number {
    const address = this.#server?.address() as AddressInfo | undefined
    return address?.port ?? 0
  }

  /** Resolves with the next event of the cache. */
  async next(event: 'load' | 'join' | 'commit'): Promise<void> {
    await new Promise((resolve) => this.cache.on(event, resolve))
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#server?.close(resolve))
    this.#server?.closeAllConnections()
    await ended
    const closed = this.cache.close({ drain: 1 })
    await this.runtime.advance(1000)
    await closed
  }
}
