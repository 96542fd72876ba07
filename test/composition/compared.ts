import { textOf, type WireAnswer } from '../wire.ts'
import { PER_REQUEST } from './clients.ts'

/** The written list of intended differences between the cached app and the bare one. The fields are left out of the comparison. */
const INTENDED: Readonly<Record<string, string>> = {
  age: 'the age of the entry',
  date: 'the entry keeps the date of its load',
  'cache-status': 'names what the cache did',
  'content-length': 'an entry has a length where the handler streamed',
  'transfer-encoding': 'the same',
  connection: 'of the connection',
  'keep-alive': 'of the connection',
}

/** What a 304 from an entry leaves out beside its entity-tag, and a handler's may have (RFC 9110 section 15.4.5). */
const OF_THE_WHOLE = ['accept-ranges', 'content-language', 'content-type', 'last-modified']

/** What a 304 from an entry carries of what the handler's side of the cache sets (RFC 9110 section 15.4.5). */
const CARRIED = new Set(['cache-control', 'content-location', 'etag', 'expires', 'set-cookie'])

interface Compared {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  readonly whole: boolean
}

/** A response without its intended differences; `plain`: what the bare app responded to the same request. */
export function compared(
  answer: WireAnswer,
  plain: WireAnswer | undefined,
  {
    differs = {},
    inside = false,
  }: { readonly differs?: Readonly<Record<string, string>>; readonly inside?: boolean } = {},
): Compared {
  const { status, whole } = answer
  const own = Object.entries(answer.headers).filter(([name]) => !(name in INTENDED) && !(name in differs))
  const headers = Object.fromEntries(own.map(([name, value]) => [name, valueOf(name, value)]))
  // The cache adds a weak entity-tag, and may then respond 304 where the bare app cannot.
  if (plain?.headers.etag === undefined && answer.headers.etag?.startsWith('W/') === true) {
    delete headers['etag']
    if (status === 304 && plain?.status === 200) return { ...compared(plain, plain, { differs, inside }) }
  }
  if (status === 304) for (const name of OF_THE_WHOLE) delete headers[name]
  // Nor does a compression inside say Vary with a 304, as the entry does.
  if (status === 304 && inside) for (const name of Object.keys(headers)) if (!CARRIED.has(name)) delete headers[name]
  // A compression inside leaves HEAD alone; the entry responds with the fields of its GET.
  if (inside && answer.body.length === 0) delete headers['content-encoding']
  return { status, headers, text: textOf(answer), whole }
}

function valueOf(name: string, value: unknown): unknown {
  if (name === 'set-cookie') return (value as readonly string[]).map(withoutValue)
  if (name === 'vary')
    return [
      ...new Set(
        String(value)
          .toLowerCase()
          .split(/\s*,\s*/),
      ),
    ].toSorted()
  return PER_REQUEST.includes(name) ? 'one of its own' : value
}

/** Names and attributes of a cookie. */
function withoutValue(line: string): string {
  return line.replace(/=[^;]*/, '=').replace(/Expires=[^;]*/i, 'Expires')
}
