import 'reflect-metadata'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { type DynamicModule, type INestApplication, Module, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { describe } from '@jest/globals'
import { ask, textOf, type WireAnswer, type WireRequest } from '../../../../test/wire.ts'
import { type CachedOptions, CattlegridModule } from '../../src/index.ts'

export type Platform = 'Express' | 'Fastify'

/** Describes the same behaviour on both platforms. */
export function describeOnBoth(title: string, body: (platform: Platform) => void): void {
  for (const platform of ['Express', 'Fastify'] as const)
    describe(`NestJS on ${platform}: ${title}`, () => {
      body(platform)
    })
}

export interface SiteOptions {
  readonly controllers?: readonly Type[]
  readonly providers?: DynamicModule['providers']
  /** Beside the module of the cache. */
  readonly imports?: NonNullable<DynamicModule['imports']>
  readonly defaults?: CachedOptions<never, never>
  /** Called before the app is initialised, as `main.ts` does. */
  readonly setUp?: (app: INestApplication) => unknown
}

/** A Nest app on a free port, with a cache whose time the test moves. */
export interface Site {
  readonly app: INestApplication
  readonly cache: Cache
  readonly runtime: ManualRuntime
  readonly port: number
  readonly get: (path: string, fields?: WireRequest['headers']) => Promise<SiteAnswer>
  readonly send: (path: string, request: WireRequest) => Promise<SiteAnswer>
  readonly close: () => Promise<void>
}

export interface SiteAnswer extends WireAnswer {
  readonly text: string
  /** The field `Cache-Status`, without the name of the cache. */
  readonly cache: string
}

export async function createApp(platform: Platform, module: Type | DynamicModule): Promise<INestApplication> {
  const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter()
  return await NestFactory.create(module, adapter, { logger: false, abortOnError: false })
}

export async function startSite(platform: Platform, options: SiteOptions): Promise<Site> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  class Site {}
  const { controllers = [], providers = [], imports = [], defaults, setUp } = options
  Module({
    imports: [CattlegridModule.forRoot({ cache, defaults: { cacheStatus: 'c', ...defaults } }), ...imports],
    controllers: [...controllers],
    providers,
  })(Site)
  const app = await createApp(platform, Site)
  await setUp?.(app)
  await app.listen(0, '127.0.0.1')
  const port = Number(new URL(await app.getUrl()).port)
  const send = async (path: string, request: WireRequest): Promise<SiteAnswer> => {
    const answer = await ask(port, path, request)
    return { ...answer, text: textOf(answer), cache: String(answer.headers['cache-status']).replace(/^c; /, '') }
  }
  return {
    app,
    cache,
    runtime,
    port,
    send,
    get: (path, headers = {}) => send(path, { headers }),
    async close() {
      await app.close()
      const closed = cache.close({ drain: 1 })
      await runtime.advance(1000)
      await closed
    },
  }
}
