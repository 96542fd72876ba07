import type { IncomingMessage } from 'node:http'
import { reduceEncoding } from '../fields/selecting-value.ts'
import { METHOD_OVERRIDES } from './eligible.ts'

/** Answered by us from the entry: a leader's handler that saw them would answer 304, 206, 412 or 416, and everybody would get that. */
const CONDITIONS = ['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range', 'range']

/** Inputs that the key does not hold and that many handlers believe. */
const UNKEYED = [
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

/** What the key is made of: a handler sees in them the key's own value, or none. */
const IN_KEY = ['host', 'x-forwarded-host', 'x-forwarded-proto']

const DEFAULT_PORTS: Readonly<Record<string, RegExp>> = { http: /:80$/, https: /:443$/ }

/** Which fields of a leader's request its handler is not shown as they came; the same for every request of a route. */
export interface HiddenFields {
  readonly dropped: ReadonlySet<string>
  /** Reduced to what the key was made of. */
  readonly reduced: ReadonlySet<string>
}

/**
 * @param keyed fields in the key, lower-case.
 * @param scrub whether unkeyed fields are dropped at all.
 */
export function hiddenFields(keyed: readonly string[], scrub: boolean): HiddenFields {
  if (!scrub) return { dropped: new Set(CONDITIONS), reduced: new Set() }
  const unkeyed = (names: readonly string[]): Set<string> => new Set(names.filter((name) => !keyed.includes(name)))
  return { dropped: unkeyed([...CONDITIONS, ...UNKEYED]), reduced: unkeyed(IN_KEY) }
}

/** What of a leader's request its key holds. */
export interface HandlerInput {
  /** The trusted ones: a forwarded host or scheme stays where it is what the key was made of, and stays as nothing but that. */
  readonly host: string
  readonly scheme: string
  readonly hidden: HiddenFields
  /** Conditions of our own, which the handler is to answer. */
  readonly added: Readonly<Record<string, string>>
}

/** Takes from a leader's request what its handler could see and the key does not hold. */
export function normaliseLeader(req: IncomingMessage, { host, scheme, hidden, added: given }: HandlerInput): void {
  const replaced = replacementsFor(req, host, scheme, hidden)
  for (const name of Object.keys(given)) replaced.set(name, given[name])
  for (const [name, value] of replaced) replaceField(req, name, value)
  // Defined, not assigned: a request of HTTP/2 has a getter in its place.
  const value = replacedRawHeaders(req.rawHeaders, replaced)
  Object.defineProperty(req, 'rawHeaders', { value, configurable: true, enumerable: true, writable: true })
}

/** Of the fields that are there, those that the handler is shown with another value, or not at all. */
function replacementsFor(
  req: IncomingMessage,
  host: string,
  scheme: string,
  { dropped, reduced }: HiddenFields,
): Map<string, string | undefined> {
  const replaced = new Map<string, string | undefined>()
  const site = normalHost(scheme, host)
  for (const name of fieldNamesOf(req)) {
    if (dropped.has(name)) replaced.set(name, undefined)
    if (!reduced.has(name)) continue
    // Behind a proxy the key is made of the forwarded host, and `Host` is anybody's word.
    if (name === 'host' && hasOtherValue(req, name, site)) replaced.set(name, site === '' ? undefined : site)
    if (name === 'x-forwarded-host') replaced.set(name, hasValue(req, name, host) ? site : undefined)
    if (name === 'x-forwarded-proto') replaced.set(name, hasValue(req, name, scheme) ? scheme : undefined)
  }
  const accepted = req.headers['accept-encoding']
  if (accepted !== undefined) replaced.set('accept-encoding', reduceEncoding(accepted))
  return replaced
}

/** Wherever a handler may look: a layer outside may have taken a field from one place, or added it to one. */
function fieldNamesOf(req: IncomingMessage): Set<string> {
  const names = new Set([...Object.keys(req.headers), ...Object.keys(distinctOf(req))])
  for (let index = 0; index < req.rawHeaders.length; index += 2) names.add(req.rawHeaders[index]?.toLowerCase() ?? '')
  return names
}

/** A host in the spelling that the key holds: its case and its default port make no difference. */
export function normalHost(scheme: string, host: string): string {
  return host.toLowerCase().replace(DEFAULT_PORTS[scheme] ?? /$^/, '')
}

/** Whether the value that the framework trusts is among those of the field: frameworks differ in which one they take. */
function hasValue({ headers }: IncomingMessage, name: string, value: string): boolean {
  const given = headers[name]
  return (
    given !== undefined &&
    String(given)
      .split(',')
      .some((entry) => entry.trim() === value)
  )
}

/** Whether a field that is there says anything but this, on any of its lines. */
function hasOtherValue(req: IncomingMessage, name: string, value: string): boolean {
  const given = req.headers[name]
  return given !== undefined && (given !== value || (distinctOf(req)[name]?.length ?? 1) > 1)
}

function replacedRawHeaders(raw: readonly string[], replaced: ReadonlyMap<string, string | undefined>): string[] {
  const kept: string[] = []
  for (const [name, value] of replaced) if (value !== undefined) kept.push(name, value)
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    if (!replaced.has(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '')
  }
  return kept
}

/** `undefined`: takes it away. The raw fields stay. */
export function replaceField(req: IncomingMessage, name: string, value: string | undefined): void {
  const distinct = distinctOf(req)
  if (value === undefined) {
    delete req.headers[name]
    delete distinct[name]
  } else {
    req.headers[name] = value
    distinct[name] = [value]
  }
}

/**
 * Node makes the distinct fields of the raw ones when they are first asked for, and counts on finding as many as there came. An injected
 * request, as Fastify makes it for tests, has none.
 */
function distinctOf(req: Partial<Pick<IncomingMessage, 'headersDistinct'>>): NodeJS.Dict<string[]> {
  return req.headersDistinct ?? {}
}
