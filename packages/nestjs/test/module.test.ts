import 'reflect-metadata'
import { type Cache, createCache } from '@cattlegrid/core'
import { Controller, Get, Injectable, type INestApplication, Module, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { describe, expect, test } from '@jest/globals'
import { Cached, CATTLEGRID_CACHE, CattlegridModule, InjectCache } from '../src/index.ts'
import { optionsTable } from './options-table.ts'
import { createApp, describeOnBoth } from './support/site.ts'

@Injectable()
class Products {
  readonly cache: Cache

  constructor(@InjectCache() cache: Cache) {
    this.cache = cache
  }
}

/** A feature module that imports nothing. */
@Module({ providers: [Products], exports: [Products] })
class ProductsModule {}

@Controller()
class Pages {
  @Get()
  @Cached({ ttl: '1m' })
  page(): string {
    return 'page'
  }
}

@Injectable()
class Settings {
  readonly ttl = '7s'
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

function moduleOf(imports: readonly unknown[], controllers: readonly Type[] = []): Type {
  class Root {}
  Module({ imports: imports as Type[], controllers: [...controllers] })(Root)
  return Root
}

const fails = async (module: Type): Promise<unknown> => {
  const app = await createApp('Express', module).catch((error: unknown) => error)
  if (!isApp(app)) return app
  const error = await app.init().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  await app.close()
  return error
}

function isApp(app: unknown): app is INestApplication {
  return app instanceof Object && 'init' in app
}

const cases = Object.entries(optionsTable['CattlegridModuleOptions'] ?? {}).flatMap(([name, values]) =>
  (values as unknown[]).map((value) => [name, value] as const),
)

describe('the module', () => {
  test.each(cases)('refuses %s: %p at the start', async (name, value) => {
    const error = await fails(moduleOf([CattlegridModule.forRoot({ [name]: value })]))
    expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION' })
  })

  test('refuses options of a cache beside a cache', async () => {
    const cache = createCache()
    const error = await fails(moduleOf([CattlegridModule.forRoot({ cache, options: {} })]))
    expect(error).toMatchObject({ option: 'CattlegridModule.options' })
    await cache.close()
  })

  test('is imported once in an app', async () => {
    const error = await fails(moduleOf([CattlegridModule.forRoot({}), CattlegridModule.forRoot({ options: {} })]))
    expect(String(error)).toMatch(/second import/)
  })

  test('gives its cache to every module, which need not import it', async () => {
    const app = await createApp('Express', moduleOf([CattlegridModule.forRoot({}), ProductsModule]))
    expect(app.get(Products, { strict: false }).cache).toBe(app.get(CATTLEGRID_CACHE))
    await app.close()
  })

  test('gives its cache only to modules that import it where isGlobal is false', async () => {
    const error = await fails(moduleOf([CattlegridModule.forRoot({ isGlobal: false }), ProductsModule]))
    expect(String(error)).toMatch(/CATTLEGRID_CACHE/)
  })

  test('needs no options', async () => {
    const app = await createApp('Express', moduleOf([CattlegridModule.forRoot()]))
    expect(await app.get<Cache>(CATTLEGRID_CACHE).getOrSet('key', () => 'value', { ttl: '1m' })).toBe('value')
    await app.close()
  })

  test('takes its options from a factory with dependencies', async () => {
    const forRoot = CattlegridModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: async ({ ttl }: Settings) => ({ options: { ttl } }),
    })
    const app = await createApp('Express', moduleOf([forRoot]))
    const cache = app.get<Cache>(CATTLEGRID_CACHE)
    expect((await cache.lookup('key', () => 'value')).freshFor).toBe(7000)
    await app.close()
  })

  test('is missed at the start by a controller with cached handlers, and the error names what to import', async () => {
    const error = await fails(moduleOf([], [Pages]))
    expect(String(error)).toMatch(/CacheInterceptor.*CattlegridModule\.forRoot\(\)/)
  })

  test('stops the start where it is imported without forRoot(), and the error names that', async () => {
    const error = await fails(moduleOf([CattlegridModule], [Pages]))
    expect(String(error)).toMatch(/CattlegridModule\.forRoot\(\)/)
  })

  test('closes the cache that it made with an app without a server', async () => {
    const context = await NestFactory.createApplicationContext(moduleOf([CattlegridModule.forRoot({})]), {
      logger: false,
    })
    const cache = context.get<Cache>(CATTLEGRID_CACHE)
    await context.close()
    await expect(cache.set('key', 1, { ttl: '1m' })).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })
})

describeOnBoth('shutdown', (platform) => {
  test('closes the cache that the module made after the last response', async () => {
    const started = withGate()
    const app = await createApp(platform, moduleOf([CattlegridModule.forRoot({})], [started.controller]))
    await app.listen(0, '127.0.0.1')
    const cache = app.get<Cache>(CATTLEGRID_CACHE)
    const answer = fetch(await app.getUrl(), { headers: { connection: 'close' } })
    await started.running
    const closed = app.close()
    started.end()
    expect(await (await answer).text()).toBe('late')
    await closed
    await expect(cache.set('key', 1, { ttl: '1m' })).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  test('leaves a cache open that the module was given', async () => {
    const cache = createCache()
    const app = await createApp(platform, moduleOf([CattlegridModule.forRoot({ cache })], [Pages]))
    await app.listen(0, '127.0.0.1')
    await app.close()
    await cache.set('key', 1, { ttl: '1m' })
    expect(await cache.get('key')).toBe(1)
    await cache.close()
  })
})

/** A controller whose handler waits. */
function withGate(): { readonly controller: Type; readonly running: Promise<void>; readonly end: () => void } {
  let begin!: () => void
  let end!: () => void
  const running = new Promise<void>((resolve) => (begin = resolve))
  const ended = new Promise<void>((resolve) => (end = resolve))
  @Controller()
  class Slow {
    @Get()
    @Cached({ ttl: '1m' })
    async page(): Promise<string> {
      begin()
      await ended
      return 'late'
    }
  }
  return { controller: Slow, running, end }
}
