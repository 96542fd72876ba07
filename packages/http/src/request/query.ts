/** The query parameters in the key. The handler does not see the others. */
export type QueryRule =
  { readonly kind: 'all' } | { readonly kind: 'only' | 'ignore'; readonly names: ReadonlySet<string> }

/**
 * A query with more parameters is not sorted: parsers stop at 1,000 parameters, and the order then decides
 * which ones a handler sees.
 */
const MAX_SORTED = 100

/**
 * A URL, whole or from a mount point on, with the query that the key holds and the handler sees: without
 * unkeyed parameters, and sorted where the route lists those that count. Otherwise the order stays, because
 * it may count for the handler: its URL may be signed, or its parser may stop at a limit.
 */
export function withQuery(url: string, rule: QueryRule): string {
  const index = url.indexOf('?')
  if (index < 0 || rule.kind === 'all') return url
  const keyed = url
    .slice(index + 1)
    .split('&')
    .filter((text) => text !== '' && isKeyed(nameOf(text), rule))
  if (keyed.length === 0) return url.slice(0, index)
  return `${url.slice(0, index)}?${(rule.kind === 'only' ? sorted(keyed) : keyed).join('&')}`
}

/**
 * True if a URL has the path and all parameters of its form in the key: their order and encoding may differ.
 * Layers that have seen such a URL have seen nothing that the key lacks.
 */
export function hasAllInKey(url: string, keyed: string): boolean {
  return pathOf(url) === pathOf(keyed) && countIn(url) === countIn(keyed)
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

function countIn(url: string): number {
  const query = url.slice(pathOf(url).length + 1)
  return query.split('&').filter((text) => text !== '').length
}

/**
 * True if the key holds the parameter of this decoded name. A listed name matches every parameter that any
 * parser may take for it.
 */
function isKeyed(name: string, rule: QueryRule): boolean {
  switch (rule.kind) {
    case 'all':
      return true
    case 'ignore':
      return !rule.names.has(beforeBracket(name))
    case 'only':
      return [name, beforeBracket(name), firstSegmentOf(name)].some((reading) => rule.names.has(reading))
  }
}

/** The decoded name of a parameter, brackets included. */
function nameOf(parameter: string): string {
  const [written = ''] = parameter.split('=', 1)
  const text = written.replaceAll('+', ' ')
  try {
    return decodeURIComponent(text)
  } catch {
    // Of a malformed encoding, some parsers decode the valid part.
    return text.replaceAll(/%[0-7][0-9a-f]/gi, (code) => String.fromCodePoint(Number.parseInt(code.slice(1), 16)))
  }
}

function beforeBracket(name: string): string {
  const bracket = name.indexOf('[')
  return bracket > 0 ? name.slice(0, bracket) : name
}

/** Some parsers take `[a]` and `a.b` for `a`. */
function firstSegmentOf(name: string): string {
  return name.split(/[[\].:?\s]/).find((segment) => segment !== '') ?? name
}

/** A query whose parameters are sorted: the tag of a URL has no order. */
export function sortedQuery(query: string): string {
  return sorted(query.split('&').filter((text) => text !== '')).join('&')
}

/**
 * Sorts parameters by name. Parameters of one name, and those that a parser may take for one, such as `a[…]`,
 * keep their order.
 */
function sorted(parameters: readonly string[]): readonly string[] {
  if (parameters.length > MAX_SORTED) return parameters
  const texts = parameters.map(normalEncoding)
  if (texts.length < 2) return texts
  const named = texts.map((text) => ({ text, name: /^(?:\[|%5B)*([\w~-]*)/.exec(text)?.[1] ?? '' }))
  return named
    .toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)))
    .map(({ text }) => text)
}

/**
 * Decodes percent-encoded unreserved characters, and puts other encodings in upper case (RFC 3986 section
 * 6.2.2). Dot segments and `%2F` stay.
 */
export function normalEncoding(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCodePoint(Number.parseInt(code.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : code.toUpperCase()
  })
}
