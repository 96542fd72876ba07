import { InvalidOptionError } from '@cattlegrid/core'
import { compileRoute, type HttpCache, type Route, type RouteOptions } from '@cattlegrid/http'
import { RequestMethod, type Type } from '@nestjs/common'
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core'
import { CACHE_TTL, CACHED } from './cached.ts'
import { isCacheInterceptor } from './cache-interceptor.ts'
import { HandlerMetadata, NEST_KEYS, type VersionSource } from './handler-metadata.ts'
import { TAGS } from './invalidate-tags.ts'

type Options = RouteOptions<never, never>

/** A handler whose responses are cached. */
export interface CachedHandler {
  readonly route: Route
  readonly place: string
  readonly versionSource: VersionSource
}

/** The cached handlers of an app, by class and method: two controllers may inherit one method. */
export class CachedHandlers {
  readonly #handlers = new Map<Type, Map<Function, CachedHandler>>()
  readonly #http: HttpCache
  readonly #defaults: Options | undefined
  readonly #config: ApplicationConfig

  constructor(http: HttpCache, defaults: Options | undefined, config: ApplicationConfig) {
    this.#http = http
    this.#defaults = defaults
    this.#config = config
  }

  find(owner: Type, handler: Function): CachedHandler | undefined {
    return this.#handlers.get(owner)?.get(handler)
  }

  /**
   * Finds the cached handlers of all controllers.
   *
   * @throws InvalidOptionError for wrong options, and for `@Cached()` on what handles no `GET` requests.
   */
  declareAll(modules: ModulesContainer): void {
    for (const { controllers, providers } of modules.values()) {
      for (const owner of classesOf(controllers)) this.#declare(owner)
      for (const owner of classesOf(providers)) {
        refuseProvider(owner)
        warnOfTagsNowhere(owner)
      }
    }
  }

  #declare(owner: Type): void {
    const handlers = new Map<Function, CachedHandler>()
    const methods = HandlerMetadata.ofClass(owner)
    refuseWithoutRequests(methods)
    for (const metadata of methods) {
      const options = this.#optionsOf(metadata)
      if (options !== undefined) handlers.set(metadata.handler, this.#compile(metadata, options))
    }
    if (handlers.size > 0) this.#handlers.set(owner, handlers)
  }

  /** undefined: the handler is not cached. */
  #optionsOf(metadata: HandlerMetadata): Options | undefined {
    const own = metadata.ofHandler<Options | false>(CACHED)
    const ofClass = metadata.ofOwner<Options | false>(CACHED)
    if (own === false || (own === undefined && ofClass === false)) return undefined
    const kind = kindOf(metadata)
    if (own !== undefined && kind !== 'GET') throw refused(metadata, kind)
    // A write runs as it is, and may invalidate the responses of its URL.
    if (kind === 'stream' || kind === 'no request') return undefined
    const ttl = metadata.ofHandler<Options['ttl']>(CACHE_TTL) ?? metadata.ofOwner<Options['ttl']>(CACHE_TTL)
    const ofTtl = ttl === undefined ? {} : { ttl }
    const inherited = ofClass === false ? undefined : ofClass
    if (own !== undefined || inherited !== undefined) return { ...inherited, ...ofTtl, ...own }
    if (metadata.interceptors.some(isCacheInterceptor)) return ofTtl
    // A default `ttl` would store the pages of a whole app, whatever they say themselves.
    if (this.#config.getGlobalInterceptors().some(isCacheInterceptor)) return { ttl: 'origin', ...ofTtl }
    if (ttl !== undefined) warnOfTtlAlone(metadata)
    return undefined
  }

  #compile(metadata: HandlerMetadata, options: Options): CachedHandler {
    const versionSource = metadata.versionSource(this.#config.getVersioning())
    // A guard rejects a subrequest, which has no user; a function of the application may not find
    // its version.
    const refreshesInline = versionSource.kind === 'unknown' || metadata.isGuarded || this.#hasGlobalGuards
    const defaults: Options = { refresh: refreshesInline ? 'inline' : 'behind', ...this.#defaults }
    const route = compileRoute(
      `@Cached() on ${metadata.title}`,
      this.#http,
      defaults as RouteOptions,
      options as RouteOptions,
    )
    return { route, place: metadata.place, versionSource }
  }

  get #hasGlobalGuards(): boolean {
    return this.#config.getGlobalGuards().length > 0 || this.#config.getGlobalRequestGuards().length > 0
  }
}

/**
 * What a method handles: requests of one method or of all, of which only `GET` is cached; a stream of events;
 * or no requests.
 */
function kindOf(metadata: HandlerMetadata): string {
  const method = metadata.ofHandler<RequestMethod>(NEST_KEYS.method)
  if (method === undefined) return 'no request'
  if (metadata.ofHandler(NEST_KEYS.sse) === true) return 'stream'
  return method === RequestMethod.ALL ? 'GET' : RequestMethod[method]
}

const REFUSALS: Readonly<Record<string, string>> = {
  'no request': 'a method that handles no HTTP requests',
  stream: 'a stream of @Sse(), which does not end',
}

const ACCEPTED =
  'a handler of GET requests in a controller; for a write use @InvalidateTags(), for the result of a resolver, a message handler or a service use ' +
  'cache.getOrSet() or @cachedMethod of @cattlegrid/core/decorator'

function refused({ title }: HandlerMetadata, kind: string): InvalidOptionError {
  return new InvalidOptionError(`@Cached() on ${title}`, REFUSALS[kind] ?? `a handler of ${kind} requests`, ACCEPTED)
}

/** Without the interceptor, which may be a global one elsewhere, it says nothing. */
function warnOfTtlAlone({ title }: HandlerMetadata): void {
  process.emitWarning(
    `@CacheTTL() on ${title} stands alone, so the handler is not cached: write @Cached({ ttl }), or add @UseInterceptors(CacheInterceptor).`,
    { type: 'CattlegridWarning', code: 'CATTLEGRID_TTL_ALONE' },
  )
}

/** A cached controller may handle messages too, which are not cached. */
function refuseWithoutRequests(methods: readonly HandlerMetadata[]): void {
  const [first] = methods
  if (first === undefined || (first.ofOwner<Options | false>(CACHED) ?? false) === false) return
  if (methods.every((metadata) => kindOf(metadata) === 'no request')) throw refused(first, 'no request')
}

function refuseProvider(owner: Type): void {
  const isMarked = (metadata: HandlerMetadata): boolean =>
    metadata.ofHandler(CACHED) !== undefined || metadata.ofOwner(CACHED) !== undefined
  const marked = HandlerMetadata.ofClass(owner).find(isMarked)
  if (marked !== undefined) throw refused(marked, 'no request')
}

/**
 * Nest runs interceptors for what it calls itself, such as a resolver. A method of a provider that no
 * decorator declares to a framework is called by the application.
 */
function warnOfTagsNowhere(owner: Type): void {
  for (const metadata of HandlerMetadata.ofClass(owner)) {
    const keys = Reflect.getMetadataKeys(metadata.handler).map(String)
    const own = [TAGS, NEST_KEYS.interceptors]
    if (!keys.includes(TAGS) || keys.some((key) => !own.includes(key))) continue
    process.emitWarning(
      `@InvalidateTags() on ${metadata.title} does nothing: Nest does not call this method itself. Put it on the handler of the controller, or call cache.invalidateTags() in the method.`,
      { type: 'CattlegridWarning', code: 'CATTLEGRID_TAGS_NOWHERE' },
    )
  }
}

/** The classes of a collection in the container, which also holds values and factories. */
function classesOf(wrappers: ReadonlyMap<unknown, { readonly metatype: Type | Function | null }>): readonly Type[] {
  const metatypes = [...wrappers.values()].map(({ metatype }) => metatype)
  return metatypes.filter((metatype): metatype is Type => typeof metatype === 'function' && isClass(metatype))
}

function isClass({ prototype }: Function): boolean {
  return prototype instanceof Object
}
