/** Which parameters of the query belong to the resource. What does not is kept from the handler too. */
export type QueryRule =
  { readonly kind: 'all' } | { readonly kind: 'only' | 'ignore'; readonly names: ReadonlySet<string> }

/** Parsers of query strings stop at 1,000 parameters: with so many, their order decides what a handler sees. */
const MAX_SORTED = 100

/** The query without the parameters that do not count, otherwise untouched; no question mark. */
function keyedQuery(query: string, rule: QueryRule): string {
  return query
    .split('&')
    .filter((text) => text !== '' && isKeyed(nameOf(text), rule))
    .join('&')
}

/** A URL, whole or from a mount point on, without the parameters that do not count. */
export function withQuery(url: string, rule: QueryRule): string {
  const index = url.indexOf('?')
  if (index < 0 || rule.kind === 'all') return url
  const kept = keyedQuery(url.slice(index + 1), rule)
  return kept === '' ? url.slice(0, index) : `${url.slice(0, index)}?${kept}`
}

/** `name`: decoded. Of a list each parameter is kept that any parser may take for one of its names: what is kept is in the key. */
export function isKeyed(name: string, rule: QueryRule): boolean {
  switch (rule.kind) {
    case 'all':
      return true
    case 'ignore':
      return !rule.names.has(beforeBracket(name))
    case 'only':
      return [name, beforeBracket(name), firstWordOf(name)].some((reading) => rule.names.has(reading))
  }
}

/** What a parser makes of the name of a parameter before it looks for brackets in it. */
function nameOf(parameter: string): string {
  const [written = ''] = parameter.split('=', 1)
  const text = written.replaceAll('+', ' ')
  try {
    return decodeURIComponent(text)
  } catch {
    // Some parsers decode what they can.
    return text.replaceAll(/%[0-7][0-9a-f]/gi, (code) => String.fromCodePoint(Number.parseInt(code.slice(1), 16)))
  }
}

function beforeBracket(name: string): string {
  const bracket = name.indexOf('[')
  return bracket > 0 ? name.slice(0, bracket) : name
}

/** `[a]` and `a.b` are taken for `a` by some. */
function firstWordOf(name: string): string {
  return name.split(/[[\].:?\s]/).find((word) => word !== '') ?? name
}

/** Parameters in the order of their names; repeated names, and whatever a parser may take for one name, such as `a[…]`, keep theirs. */
export function sortedQuery(query: string): string {
  const parameters = query.split('&').filter((text) => text !== '')
  if (parameters.length > MAX_SORTED) return query
  const named = parameters
    .map(normalEncoding)
    .map((text) => ({ text, name: /^(?:\[|%5B)*([\w~-]*)/.exec(text)?.[1] ?? '' }))
  return named
    .toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)))
    .map(({ text }) => text)
    .join('&')
}

/** Percent-encodings of unreserved characters are undone, the others in capitals (RFC 3986 section 6.2.2). Dots and slashes stay. */
export function normalEncoding(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCodePoint(Number.parseInt(code.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : code.toUpperCase()
  })
}
