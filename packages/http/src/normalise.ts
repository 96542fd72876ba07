import type { IncomingMessage } from 'node:http'
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

/** Codings whose absence a client would notice; each more doubles the number of variants. */
const CODINGS = ['br', 'gzip', 'zstd']

const DEFAULT_PORTS: Readonly<Record<string, RegExp>> = { http: /:80$/, https: /:443$/ }

/** What of a leader's request its key holds. */
export interface Keyed {
  /** The trusted ones: a forwarded host or scheme stays where it is what the key was made of, and stays as nothing but that. */
  readonly host: string
  readonly scheme: string
  /** Fields in the key, lower-case. */
  readonly headers: readonly string[]
  /** Whether unkeyed fields are dropped at all. */
  readonly scrub: boolean
  /** Conditions of our own, which the handler is to answer. */
  readonly given?: Readonly<Record<string, string>> | undefined
}

/** Takes from a leader's request what its handler could see and the key does not hold. */
export function normaliseLeader(req: IncomingMessage, { host, scheme, headers, scrub, given = {} }: Keyed): void {
  const replaced = new Map<string, string | undefined>(CONDITIONS.map((name) => [name, undefined]))
  if (scrub) {
    const site = normalHost(scheme, host)
    for (const name of UNKEYED) replaced.set(name, undefined)
    // Behind a proxy the key is made of the forwarded host, and `Host` is anybody's word.
    if (hasOther(req, 'host', site)) replaced.set('host', site === '' ? undefined : site)
    replaced.set('x-forwarded-host', trusted(req, 'x-forwarded-host', host) && site)
    replaced.set('x-forwarded-proto', trusted(req, 'x-forwarded-proto', scheme))
    for (const name of headers) replaced.delete(name)
  }
  const accepted = req.headers['accept-encoding']
  if (accepted !== undefined) replaced.set('accept-encoding', reduceEncoding(accepted))
  for (const [name, value] of Object.entries(given)) replaced.set(name, value)
  for (const [name, value] of replaced) replaceField(req, name, value)
  // Defined, not assigned: a request of HTTP/2 has a getter in its place.
  const rawHeaders = rawWith(req.rawHeaders, replaced)
  Object.defineProperty(req, 'rawHeaders', { value: rawHeaders, configurable: true, enumerable: true, writable: true })
}

/** A host in the spelling that the key holds: its case and its default port make no difference. */
export function normalHost(scheme: string, host: string): string {
  return host.toLowerCase().replace(DEFAULT_PORTS[scheme] ?? /$^/, '')
}

/** The sorted codings that this client takes, of those that matter: so there are few of them. `identity` where there is none. */
export function reduceEncoding(accepted: string): string {
  const taken = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((member) => {
        const [coding = '', ...parameters] = member.split(';').map((text) => text.trim())
        return [
          coding === 'x-gzip' ? 'gzip' : coding,
          !parameters.some((text) => /^q\s*=\s*0(?:\.0*)?$/.test(text)),
        ] as const
      }),
  )
  const wanted = CODINGS.filter((coding) => taken.get(coding) ?? taken.get('*') ?? false)
  return wanted.length === 0 ? 'identity' : wanted.join(', ')
}

/** The value that the framework trusts, where it is among those of the field: frameworks differ in which one they take. */
function trusted(req: IncomingMessage, name: string, value: string): string | undefined {
  const given = req.headers[name]
  const entries = String(given).split(',')
  return entries.some((entry) => entry.trim() === value) ? value : undefined
}

/** Whether a field that is there says anything but this, on any of its lines. */
function hasOther(req: IncomingMessage, name: string, value: string): boolean {
  const given = req.headers[name]
  // An injected request has no distinct fields.
  const distinct = (req.headersDistinct as NodeJS.Dict<string[]> | undefined) ?? {}
  return given !== undefined && (given !== value || (distinct[name]?.length ?? 1) > 1)
}

function rawWith(raw: readonly string[], replaced: ReadonlyMap<string, string | undefined>): string[] {
  const kept = [...replaced].flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2)
    if (!replaced.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

/** `undefined`: takes it away. The raw fields stay. */
export function replaceField(req: IncomingMessage, name: string, value: string | undefined): void {
  // Node makes the distinct fields of the raw ones when they are first asked for, and counts on finding as many as there came.
  // An injected request, as Fastify makes it for tests, has none.
  const distinct = (req.headersDistinct as NodeJS.Dict<string[]> | undefined) ?? {}
  if (value === undefined) {
    delete req.headers[name]
    delete distinct[name]
  } else {
    req.headers[name] = value
    distinct[name] = [value]
  }
}
