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
  'forwarded',
  'x-host',
  'x-original-url',
  'x-rewrite-url',
  ...METHOD_OVERRIDES,
]

/**
 * Takes from a leader's request what its handler could see and the key does not hold. `host` is the trusted one: a forwarded host stays
 * where it is what the key was made of, and stays as nothing but that.
 */
export function normaliseLeader(req: IncomingMessage, host: string): void {
  const forwarded = req.headers['x-forwarded-host']
  const [first] = String(forwarded).split(',')
  const trusted = forwarded !== undefined && first?.trim() === host
  const dropped = new Set([...CONDITIONS, ...UNKEYED, ...(trusted ? [] : ['x-forwarded-host'])])
  // Node makes the distinct fields of the raw ones when they are first asked for, and counts on finding as many as there came.
  // An injected request, as Fastify makes it for tests, has none.
  const distinct = (req.headersDistinct as NodeJS.Dict<string[]> | undefined) ?? {}
  for (const name of dropped) {
    delete req.headers[name]
    delete distinct[name]
  }
  if (trusted) {
    req.headers['x-forwarded-host'] = host
    distinct['x-forwarded-host'] = [host]
  }
  req.rawHeaders = req.rawHeaders.filter((_, index, raw) => !dropped.has(raw[index - (index % 2)]?.toLowerCase() ?? ''))
}
