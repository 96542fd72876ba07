import { type Cache, InvalidOptionError } from '@cattlegrid/core'
import { processWide } from '@cattlegrid/core/extend'
import { compileRoute, httpCache } from '@cattlegrid/http'
import {
  ConfigurableModuleBuilder,
  type ConfigurableModuleHost,
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common'
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core'
import { CachedHandlers } from './cached-handlers.ts'
import { expressPlatform } from './express-platform.ts'
import { fastifyPlatform } from './fastify-platform.ts'
import { CATTLEGRID_CACHE } from './inject-cache.ts'
import { cacheOf, type CattlegridModuleOptions, checkModuleOptions, isCache } from './options.ts'
import type { Platform } from './platform.ts'
import { ResponseCache } from './response-cache.ts'

/** What `forRoot` and `forRootAsync` take beside the options. */
interface CattlegridModuleExtras {
  /** Lets every module inject the cache without importing this one. Default: true. */
  isGlobal: boolean
}

/** The options of `forRoot`. */
type ForRootOptions = CattlegridModuleOptions & Partial<CattlegridModuleExtras>

type ModuleHost = ConfigurableModuleHost<CattlegridModuleOptions, 'forRoot', 'create', CattlegridModuleExtras>

const host: ModuleHost = new ConfigurableModuleBuilder<CattlegridModuleOptions>({
  // Nest names it in the error of an app that imports `CattlegridModule` without `forRoot()`.
  optionsInjectionToken: 'CATTLEGRID_OPTIONS of CattlegridModule.forRoot()',
})
  .setClassMethodName('forRoot')
  .setExtras<CattlegridModuleExtras>({ isGlobal: true }, (definition, { isGlobal }) => ({
    ...definition,
    global: isGlobal,
  }))
  .build()
const ConfigurableModule: ModuleHost['ConfigurableModuleClass'] = host.ConfigurableModuleClass

/** The apps with a `CattlegridModule`, of whichever copy of this package. */
const served = processWide('nest-apps/1', () => new WeakSet<ApplicationConfig>())

/** How long the cache waits at the end for loads that run. */
const DRAIN = '5s'

/**
 * Makes the cache of an app, and serves the handlers that `@Cached()` marks. Import it once, in the
 * root module.
 *
 * @example
 * @Module({ imports: [CattlegridModule.forRoot({ options: { store: redisStore({ url, namespace: 'shop' }) }
 * })] }) export class AppModule {}
 */
export class CattlegridModule extends ConfigurableModule implements OnModuleInit, OnApplicationShutdown {
  readonly #cache: Cache
  readonly #ownsCache: boolean
  readonly #handlers: CachedHandlers
  readonly #responseCache: ResponseCache
  readonly #modules: ModulesContainer
  readonly #adapterHost: HttpAdapterHost

  /** Without options, the cache is in the memory of the process, and each handler names its `ttl`. */
  static override forRoot(options: ForRootOptions = {}): DynamicModule {
    // Its members would be taken for options.
    if (isCache(options)) checkModuleOptions(options)
    return super.forRoot(options)
  }

  constructor(
    options: CattlegridModuleOptions,
    cache: Cache,
    config: ApplicationConfig,
    adapterHost: HttpAdapterHost,
    modules: ModulesContainer,
  ) {
    super()
    if (served.has(config))
      throw new InvalidOptionError('CattlegridModule', 'a second import', 'one import, in the root module')
    served.add(config)
    const http = httpCache(cache)
    compileRoute('CattlegridModule.defaults', http, undefined, options.defaults)
    this.#cache = cache
    this.#ownsCache = options.cache === undefined
    this.#handlers = new CachedHandlers(http, options.defaults, config)
    this.#responseCache = new ResponseCache(this.#handlers, adapterHost)
    this.#modules = modules
    this.#adapterHost = adapterHost
    // Nest adds those of `APP_INTERCEPTOR` when all modules are made, and an application can add its own
    // only then.
    config.addGlobalInterceptor(this.#responseCache)
  }

  /** Runs before the server listens: an app with a wrong `@Cached()` does not start. */
  onModuleInit(): void {
    this.#handlers.declareAll(this.#modules)
    this.#responseCache.platform = platformOf(this.#adapterHost)
  }

  /** Nest calls it when the server has sent its last response. */
  async onApplicationShutdown(): Promise<void> {
    if (this.#ownsCache) await this.#cache.close({ drain: DRAIN })
  }
}

const OPTIONS = Symbol('cattlegrid.options')

Module({
  providers: [
    { provide: OPTIONS, inject: [host.MODULE_OPTIONS_TOKEN], useFactory: checkModuleOptions },
    { provide: CATTLEGRID_CACHE, inject: [OPTIONS], useFactory: cacheOf },
  ],
  exports: [CATTLEGRID_CACHE],
})(CattlegridModule)

for (const [index, token] of [
  OPTIONS,
  CATTLEGRID_CACHE,
  ApplicationConfig,
  HttpAdapterHost,
  ModulesContainer,
].entries())
  Inject(token)(CattlegridModule, undefined, index)

function platformOf({ httpAdapter }: Partial<HttpAdapterHost>): Platform | undefined {
  const type = httpAdapter?.getType()
  if (httpAdapter === undefined || type === undefined) return undefined
  return type === 'fastify' ? fastifyPlatform(httpAdapter) : expressPlatform
}
