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
import { answerOf } from './error-response.ts'
import { FetchExchange } from './fetch-exchange.ts'
import { noSubrequests, withoutSubrequests } from './subrequests.ts'

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

/** What a page says to `Astro.cache.set`. Durations in seconds. */
export interface AstroLifetime {
  readonly maxAge?: number
  readonly swr?: number
  readonly tags?: string[]
  readonly lastModified?: Date
  readonly etag?: string
}

/** What the cache needs of a `CacheProvider` of Astro 7. */
export interface AstroCacheProvider {
  readonly name: string
  setHeaders: (lifetime: AstroLifetime) => Headers
  onRequest: (context: { readonly request: Request }, next: () => Promise<Response>) => Promise<Response>
  invalidate: (what: { readonly path?: string; readonly tags?: string | string[] }) => Promise<void>
}

const NOTHING: ReadonlySet<string> = new Set()

/** By these fields Astro tells a provider what a page has declared. It deletes them from each response. */
const DECLARED = { targets: ['cdn-cache-control'], tagHeader: 'cache-tag' } as const

const NO_REQUESTS = 'none: the cache cannot ask Astro for a page'

/** No client gets it. */
const LEFT = 499

/** Astro's own way to keep the cookies that a page has set. */
const COOKIES = Symbol.for('astro.cookies')

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
export function astroCache(cache: Cache, options: AstroCacheOptions = {}): () => AstroCacheProvider {
  const { paths = {}, ...shared } = options
  if (shared.ttl !== undefined && options.paths === undefined)
    throw new InvalidOptionError('astroCache: ttl', shared.ttl, 'a ttl of paths: { [path]: { ttl } }')
  const http = httpCache(cache)
  const compile = (own: AstroRouteOptions): Route<Request, Response> => {
    // The URL of a page is Astro's own: it would show the host of the client.
    if (own.key?.host !== undefined)
      throw new InvalidOptionError(
        'astroCache: key.host',
        own.key.host,
        'none: Astro checks hosts (security.allowedDomains)',
      )
    const options = withoutSubrequests('astroCache', own, NO_REQUESTS)
    const route = compileRoute('astroCache', http, undefined, { ...options, ...DECLARED })
    // Rules declare the lifetime of pages that know nothing of it.
    return { ...route, personalReads: { ...route.personalReads, watchesFields: true } }
  }
  // A `ttl` for all would store the pages of a whole app, whatever they say themselves.
  const others = compile({ ...shared, ttl: undefined })
  const rules = Object.keys(paths)
    .toSorted((one, other) => other.length - one.length)
    .map((path) => ({ path, covers: coveredBy(path), route: compile({ ...shared, ...paths[path] }) }))
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
        if (reads !== undefined) showTo(request, shown)
        directivesOf(shown).keep({ tags: [pathTag(pathname)] })
        return withCookies(await next())
      },
      passedError: () => undefined,
      answerError: async (error) => answerOf(error),
      subrequests: noSubrequests,
    })
    serve(exchange, rule?.route ?? others)
    try {
      return await exchange.result
    } catch (error) {
      // Astro would log that a client has left as an error.
      if (signal.aborted) return new Response(null, { status: LEFT })
      throw error
    }
  }
  return () => ({
    name: 'cattlegrid',
    setHeaders: headersOf,
    onRequest,
    invalidate: async ({ path, tags = [] }) => {
      const names = [tags].flat().map(asWord)
      await cache.invalidateTags(path === undefined ? names : [...names, pathTag(path)])
    },
  })
}

/** True for the paths that an entry of `paths` names. */
function coveredBy(path: string): (pathname: string) => boolean {
  if (!path.startsWith('/'))
    throw new InvalidOptionError('astroCache: paths', path, "a path, as '/products' or '/products/*'")
  if (!path.endsWith('/*')) return (pathname) => pathname === path
  const folder = path.slice(0, -1)
  return (pathname) => pathname.startsWith(folder)
}

/**
 * Astro renders the request that it has, and no other. So that gets the fields that the cache shows, and a
 * signal that aborts when nobody waits for the page any more. Copies of it have no other fields, either.
 */
function showTo(request: Request, shown: Request): void {
  const { headers } = request
  const isHidden = (name: string): boolean => !Headers.prototype.has.call(shown.headers, name)
  try {
    for (const name of [...headers.keys()].filter(isHidden)) headers.delete(name)
  } catch {
    // The server has made fields that cannot be changed, and copies have them all.
    directivesOf(shown).noStore()
  }
  for (const name of ['headers', 'signal', 'clone'] as const)
    Object.defineProperty(request, name, { configurable: true, value: shown[name] })
}

/** Astro adds the cookies that a page has set to the response that the page has returned. */
function withCookies(response: Response): Response {
  const cookies = Reflect.get(response, COOKIES) as { readonly headers: () => Iterable<string> } | undefined
  const set = [...(cookies?.headers() ?? [])]
  if (set.length === 0) return response
  const changed = new Response(response.body, response)
  for (const line of set) changed.headers.append('set-cookie', line)
  return changed
}

/** As Astro's own. */
function headersOf({ maxAge, swr, tags = [], lastModified, etag }: AstroLifetime): Headers {
  const headers = new Headers()
  const directives = Object.entries({ 'max-age': maxAge, 'stale-while-revalidate': swr })
    .filter(([, seconds]) => seconds !== undefined)
    .map(([name, seconds]) => `${name}=${seconds}`)
  if (directives.length > 0) headers.set('cdn-cache-control', directives.join(', '))
  if (tags.length > 0) headers.set('cache-tag', tags.map(asWord).join(', '))
  if (lastModified !== undefined) headers.set('last-modified', lastModified.toUTCString())
  if (etag !== undefined) headers.set('etag', etag)
  return headers
}

/** The field of the tags separates them by blanks and commas. */
function asWord(tag: string): string {
  return tag.replaceAll(/[\s,%]/g, encodeURIComponent)
}

/** Of a long path its begin: a tag has 256 characters at most. */
function pathTag(path: string): string {
  return `astro-path:${path.split('?', 1)[0]}`.slice(0, 256)
}
