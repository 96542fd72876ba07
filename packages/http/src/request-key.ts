import { createHash } from 'node:crypto'

/** What decides which stored answer a request may have. */
export interface KeyParts {
  readonly scheme: string
  readonly host: string
  /** Origin-form: path and query. */
  readonly target: string
  readonly layer: string
  /** Whether the framework decodes a path before it routes: else `/%61` and `/a` may reach different handlers. */
  readonly decodesPath: boolean
}

const FORMAT = 'h1'
const LONGEST = 8192
/** Parsers of query strings stop at 1,000 parameters: with so many, their order decides what a handler sees. */
const MOST_SORTED = 100
const DEFAULT_PORTS: Readonly<Record<string, RegExp>> = { http: /:80$/, https: /:443$/ }

/**
 * The cache key of a request: a hash over its parts, each with its length, so that no delimiter can be forged. undefined for one that is
 * longer than 8 KiB.
 */
export function requestKey({ scheme, host, target, layer, decodesPath }: KeyParts): string | undefined {
  const [path = '', query = ''] = splitAt(target, '?')
  const name = host.toLowerCase().replace(DEFAULT_PORTS[scheme] ?? /$^/, '')
  const parts = [FORMAT, 'GET', layer, scheme, name, decodesPath ? normalEncoding(path) : path, sortedQuery(query)]
  const text = parts.map((part) => `${part.length}:${part}`).join('')
  if (Buffer.byteLength(text) > LONGEST) return undefined
  return `http:${createHash('sha256').update(text).digest('base64url')}`
}

/** Percent-encodings of unreserved characters are undone, the others in capitals (RFC 3986 section 6.2.2). Dots and slashes stay. */
function normalEncoding(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCodePoint(Number.parseInt(code.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : code.toUpperCase()
  })
}

/** Parameters in the order of their names; repeated names, and the members of `a[…]`, keep theirs. */
function sortedQuery(query: string): string {
  const parameters = query.split('&').filter((text) => text !== '')
  if (parameters.length > MOST_SORTED) return query
  const named = parameters.map(normalEncoding).map((text) => ({ text, name: /^[^=[%]*/.exec(text)?.[0] ?? '' }))
  return named
    .toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)))
    .map(({ text }) => text)
    .join('&')
}

function splitAt(text: string, separator: string): readonly string[] {
  const index = text.indexOf(separator)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)]
}
