import { InvalidOptionError } from '@cattlegrid/core'

/** What a page says to `Astro.cache.set`. Durations in seconds. */
export interface AstroLifetime {
  readonly maxAge?: number
  readonly swr?: number
  readonly tags?: string[]
  readonly lastModified?: Date
  readonly etag?: string
}

/** By these fields Astro tells a provider what a page has declared. It deletes them from each response. */
export const DECLARED_BY = { targets: ['cdn-cache-control'], tagHeader: 'cache-tag' } as const

const LONGEST_TAG = 256

/** Makes the fields of what a page has declared, as Astro's own. */
export function headersOf({ maxAge, swr, tags = [], lastModified, etag }: AstroLifetime): Headers {
  const headers = new Headers()
  const directives = Object.entries({ 'max-age': maxAge, 'stale-while-revalidate': swr })
    .filter(([, seconds]) => seconds !== undefined)
    .map(([name, seconds]) => `${name}=${Math.floor(Number(seconds))}`)
  if (directives.length > 0) headers.set('cdn-cache-control', directives.join(', '))
  if (tags.length > 0) headers.set('cache-tag', tags.map(asWord).join(', '))
  if (lastModified !== undefined) headers.set('last-modified', lastModified.toUTCString())
  if (etag !== undefined) headers.set('etag', etag)
  return headers
}

/** A tag as a field has it, where blanks and commas separate tags, and all others are visible ASCII. */
export function asWord(tag: string): string {
  return tag.replaceAll(/[^!-+\--~]|%/gu, escape)
}

function escape(character: string): string {
  // A lone surrogate has no encoding.
  return /\p{Surrogate}/u.test(character) ? '%EF%BF%BD' : encodeURIComponent(character)
}

/** The tag of all pages of a path, however its URL writes it. Of a long path, its begin. */
export function pathTag(path: string): string {
  if (!path.startsWith('/')) throw new InvalidOptionError('invalidate: path', path, "a path, as '/products/7'")
  return `astro-path:${routed(path)}`.slice(0, LONGEST_TAG)
}

/** Returns what tells if an entry of `paths` names a path. */
export function coveredBy(path: string): (pathname: string) => boolean {
  const folder = path.endsWith('/*') ? path.slice(0, -1) : undefined
  const named = folder ?? path
  const { pathname } = new URL(`http://site${named.startsWith('/') ? '' : '/'}${named}`)
  if (pathname !== named || /[*:[\]]/.test(named))
    throw new InvalidOptionError(
      'astroCache: paths',
      path,
      `a path as a URL has it, '/products', or '/products/*' for all below (routeRules take patterns)`,
    )
  const own = routed(named)
  if (folder === undefined) return (other) => routed(other) === own
  return (other) => own === '/' || routed(other).startsWith(`${own}/`)
}

/** A path as Astro routes it. */
function routed(path: string): string {
  const [encoded = ''] = path.split(/[?#]/, 1)
  const whole = decoded(encoded).replaceAll(/\/+/g, '/')
  return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
