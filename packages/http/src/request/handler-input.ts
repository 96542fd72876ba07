import type { IncomingHttpHeaders } from 'node:http'
import { normalHost } from '../fields/normal-host.ts'
import { reduceEncoding } from '../fields/selecting-value.ts'
import { METHOD_OVERRIDES } from './eligible.ts'
import type { KeyRule } from './request-key.ts'

/**
 * Hidden from a leader's handler: it could answer 304, 206, 412 or 416, and every follower would get that.
 * The cache evaluates `If-None-Match` and `If-Modified-Since`, and `Range` and `If-Range` where the route
 * allows ranges; it ignores the others.
 */
const CONDITIONS = ['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range', 'range']

/** True if the handler of a request might answer with less than the whole response. */
export function hasPreconditions({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return CONDITIONS.some((name) => headers[name] !== undefined)
}

/** Unkeyed input that many handlers trust. */
const UNKEYED: readonly string[] = [
  'x-forwarded-server',
  'x-forwarded-scheme',
  'x-forwarded-prefix',
  'x-forwarded-port',
  'x-forwarded-path',
  'x-forwarded-uri',
  'x-forwarded-ssl',
  'x-forwarded-protocol',
  'x-url-scheme',
  'front-end-https',
  'forwarded',
  'x-host',
  'x-http-host-override',
  'x-original-host',
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
  ...METHOD_OVERRIDES,
]

/**
 * Their values are in the key: a handler sees the value in the key, or no field. Those of HTTP/2 begin with
 * a colon.
 */
const IN_KEY = ['host', ':authority', ':scheme', 'x-forwarded-host', 'x-forwarded-proto']

/** Fields that many handlers trust, and that no key holds by itself. */
export const TRUSTED_FIELDS: readonly string[] = [...UNKEYED, 'x-forwarded-host', 'x-forwarded-proto']

/** The fields that a route hides from the handlers of its leaders. */
export interface HiddenFields {
  readonly dropped: ReadonlySet<string>
  /** Reduced to the value in the key. */
  readonly reduced: ReadonlySet<string>
}

/** `scrub`: whether unkeyed fields are dropped at all. A fixed host hides that of the request in any case. */
export function hiddenFields(
  { headers: keyed, host }: Pick<KeyRule, 'headers' | 'host'>,
  scrub: boolean,
): HiddenFields {
  const ofHost = typeof host === 'string' ? ['host', 'x-forwarded-host'] : []
  if (!scrub) return { dropped: new Set(CONDITIONS), reduced: new Set(ofHost) }
  const unkeyed = (names: readonly string[]): Set<string> => new Set(names.filter((name) => !keyed.includes(name)))
  return { dropped: unkeyed([...CONDITIONS, ...UNKEYED]), reduced: unkeyed(IN_KEY) }
}

/** The input that a leader's handler may see. */
export interface HandlerInput {
  /**
   * The host and scheme that the handler sees: those that the framework trusts, or the fixed host of the key.
   * Of a forwarded host or scheme only that value stays.
   */
  readonly host: string
  readonly scheme: string
  /** The path and the query that the key holds. */
  readonly path: string
  readonly hidden: HiddenFields
  /** The fields in the key, and those that select the variant: lower-case. */
  readonly keyed: readonly string[]
  /** Fields that the cache adds: its own conditions, for the handler to evaluate, and `CDN-Loop`. */
  readonly added: Readonly<Record<string, string>>
  /** Maps a URL to its form in the key; undefined: the handler sees that form already. */
  readonly rewrite: ((url: string) => string) | undefined
}

/**
 * The fields that a handler sees, of a request that has one value of each.
 *
 * @example
 * import { type HandlerInput, shownFields } from '@cattlegrid/http/binding'
 *
 * const show = (input: HandlerInput): Headers => new Headers(shownFields(req.headers, input))
 */
export function shownFields(
  headers: IncomingHttpHeaders,
  { host, scheme, hidden: { dropped, reduced }, added }: HandlerInput,
): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !dropped.has(name)) shown[name] = String(value)
  const site = normalHost(scheme, host)
  const keep = (name: string, trusted: string, value: string): void => {
    if (!reduced.has(name) || shown[name] === undefined) return
    // Of a forwarded value only the trusted one stays, in whichever place of the list.
    const isTrusted = name === 'host' || shown[name].split(',').some((entry) => entry.trim() === trusted)
    if (isTrusted && value !== '') shown[name] = value
    else delete shown[name]
  }
  keep('host', host, site)
  keep('x-forwarded-host', host, site)
  keep('x-forwarded-proto', scheme, scheme)
  const accepted = shown['accept-encoding']
  return { ...shown, ...(accepted === undefined ? {} : { 'accept-encoding': reduceEncoding(accepted) }), ...added }
}
