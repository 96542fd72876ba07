import { type Cache, InvalidOptionError } from '@cattlegrid/core'
import {
  compileRoute,
  directivesOf,
  httpCache,
  nextDeclaration,
  type Route,
  type RouteOptions,
  serve,
} from '@cattlegrid/http'
import { type AstroLifetime, asWord, coveredBy, DECLARED_BY, headersOf, pathTag } from './astro-declared.ts'
import { isOfItsClient, showTo, WATCHED, withBody, withCookies } from './astro-page.ts'
import { answerOf } from './error-response.ts'
import { FetchExchange } from './fetch-exchange.ts'
import { noSubrequests, withoutSubrequests } from './subrequests.ts'

export type { AstroLifetime } from './astro-declared.ts'

/** The options of pages: functions among them get the request, and the response. */
export type AstroRouteOptions = Omit<
  RouteOptions<Request, Response>,
  'phase' | 'onError' | 'audit' | 'refresh' | 'refreshHeaders' | 'targets' | 'tagHeader'
>

/** The options of `astroCache`. */
export interface AstroCacheOptions extends AstroRouteOptions {
  /**
   * The options of pages that are cached whatever they declare, by their paths: `/products`, or `/products/*`
   * for all below. The longest one counts. What one does not give comes from the options beside. Default:
   * none. Every other page is stored only if it declares its lifetime.
   */
  readonly paths?: Readonly<Record<string, AstroRouteOptions>> | undefined
}

/** What Astro calls to get the provider. */
export type AstroProviderFactory = (config?: object) => AstroCacheProvider

/** What the cache needs of a `CacheProvider` of Astro 7. */
export interface AstroCacheProvider {
  readonly name: string
  setHeaders: (lifetime: AstroLifetime) => Headers
  onRequest: (context: { readonly request: Request }, next: () => Promise<Response>) => Promise<Response>
  invalidate: (what: { readonly path?: string; readonly tags?: string | string[] }) => Promise<void>
}

const NOTHING: ReadonlySet<string> = new Set()

const NO_REQUESTS = 'none: the cache cannot ask Astro for a page'

/** Options of other hosts. Without types they would be taken, and do nothing. */
const NO_OPTIONS = ['phase', 'onError', 'refreshHeaders', 'targets', 'tagHeader'] as const

/** No client gets it. */
const LEFT = 499

/**
 * Makes the cache provider of an Astro app: the default export of the module that `cache.provider` names. It
 * stores the pages and endpoints that declare their lifetime, by `Astro.cache.set` or `routeRules`, and those
 * of `paths`. A request that finds a stale page renders it anew. One for which a page or a middleware reads
 * cookies or credentials is answered for its own client.
 *
 * @param options options of all pages.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { astroCache } from '@cattlegrid/web/astro'
 *
 * export default astroCache(createCache(), { cacheStatus: true })
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have, and for a `ttl`
 * without `paths`.
 */
export function astroCache(cache: Cache, options: AstroCacheOptions = {}): AstroProviderFactory {
  const { paths = {}, ...shared } = options
  if (shared.ttl !== undefined && options.paths === undefined)
    throw new InvalidOptionError('astroCache: ttl', shared.ttl, 'a ttl of paths: { [path]: { ttl } }')
  const http = httpCache(cache)
  const compile = (own: AstroRouteOptions): Route<Request, Response> => {
    const given = withoutSubrequests('astroCache', checked(own), NO_REQUESTS)
    const route = compileRoute('astroCache', http, undefined, { ...given, ...DECLARED_BY })
    return { ...route, personalReads: { ...route.personalReads, ...WATCHED } }
  }
  // A `ttl` for all would store the pages of a whole app, whatever they say themselves. And these pages see
  // of their clients what they see without a cache: reads of it count.
  const others = compile({ scrub: false, ...shared, ttl: undefined })
  const rules = Object.entries(paths)
    .toSorted(([one], [other]) => other.length - one.length)
    .map(([path, own]) => ({ path, covers: coveredBy(path), route: compile({ ...shared, ...own }) }))
  const declaration = nextDeclaration(http)
  const onRequest: AstroCacheProvider['onRequest'] = async ({ request }, next) => {
    const { signal, url } = request
    const { pathname } = new URL(url)
    const rule = rules.find(({ covers }) => covers(pathname))
    const exchange = new FetchExchange<Request>(request, {
      name: String(declaration),
      pattern: rule?.path,
      before: {},
      written: NOTHING,
      run: async (shown, reads) => {
        if (reads === undefined) return withCookies(await next())
        showTo(request, shown)
        directivesOf(shown).keep({ tags: [pathTag(pathname)] })
        const response = withCookies(await next())
        if (isOfItsClient(response)) directivesOf(shown).noStore()
        return response
      },
      passedError: () => undefined,
      answerError: async (error) => answerOf(error),
      subrequests: noSubrequests,
    })
    serve(exchange, rule?.route ?? others)
    try {
      return withBody(await exchange.result, request)
    } catch (error) {
      // Astro would log that a client has left as an error.
      if (signal.aborted) return new Response(null, { status: LEFT })
      throw error
    }
  }
  return (config) => {
    if (config !== undefined && Object.keys(config).length > 0)
      throw new InvalidOptionError('cache.provider.config', config, 'none: give the options to astroCache')
    return {
      name: 'cattlegrid',
      setHeaders: headersOf,
      onRequest,
      invalidate: async ({ path, tags = [] }) => {
        const names = [tags].flat().map(asWord)
        await cache.invalidateTags(path === undefined ? names : [...names, pathTag(path)])
      },
    }
  }
}

function checked(options: AstroRouteOptions): AstroRouteOptions {
  const unknown = NO_OPTIONS.find((name) => Reflect.get(options, name) !== undefined)
  if (unknown !== undefined)
    throw new InvalidOptionError(
      `astroCache: ${unknown}`,
      Reflect.get(options, unknown),
      'none: Astro has no use for it',
    )
  const host = options.key?.host
  // The URL of a page is Astro's own: it would show the host of the client.
  if (host !== undefined)
    throw new InvalidOptionError('astroCache: key.host', host, 'none: Astro checks hosts (security.allowedDomains)')
  return options
}
