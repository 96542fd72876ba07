import { type HeaderFields, linesOf, noFields, sameValue } from '../fields/header-fields.ts'
import type { ResponseHead } from './response-head.ts'
import { varyNames } from './vary.ts'

type AddedFields = Record<string, string | string[]>

/** Fields of one connection, and fields that are new in each response (RFC 9111 section 3.1). */
const NEVER_REPEATED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'age',
  'content-length',
])

/** Fields for the client of one request (RFC 9111 section 3.1); `Server-Timing` tells how long its response took. */
const OF_ONE_CLIENT = [
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'server-timing',
  'set-cookie',
]

/**
 * Fields that describe the body. They are stored with it, whichever layer set them: outer layers may describe another body for the client of a hit. Not
 * `Content-Encoding`: an outer layer that has set it encodes the stored body, too, for each client anew.
 */
const OF_THE_BODY: ReadonlySet<string> = new Set(['content-type', 'content-language'])

/**
 * The fields that a handler has added for its own client: those that differ from the fields `before` it, and those of the body. Outer layers set the
 * others anew.
 */
export function addedFields({ fields, before }: Pick<ResponseHead, 'fields' | 'before'>): AddedFields {
  const added = noFields()
  for (const [name, value] of Object.entries(fields)) {
    if (NEVER_REPEATED.has(name) || (sameValue(value, before[name]) && !OF_THE_BODY.has(name))) continue
    added[name] = typeof value === 'string' ? value : [...value]
  }
  for (const name of connectionNames(fields)) delete added[name]
  return added
}

/** The added fields that are stored. */
export function storedFields(head: Pick<ResponseHead, 'fields' | 'before'>, strip: readonly string[]): AddedFields {
  const stored = addedFields(head)
  for (const name of [...OF_ONE_CLIENT, ...strip]) delete stored[name]
  return stored
}

/**
 * The fields of outer layers to remove on a hit: those that inner layers removed, the type of another body where the stored one has none, and `Trailer`,
 * because a stored response has no trailers.
 */
export function removedFields({ fields, before }: Pick<ResponseHead, 'fields' | 'before'>): string[] {
  const names = new Set(['content-type', ...Object.keys(before)])
  return [...names].filter((name) => name === 'trailer' || !(name in fields))
}

/** Outer layers choose by these request fields (compression, CORS). A choice of the handler shows in the response field. */
const OF_OUTER_LAYERS: ReadonlyMap<string, string> = new Map([
  ['accept-encoding', 'content-encoding'],
  ['origin', 'access-control-allow-origin'],
])

/**
 * The names in `Vary` that select a stored response, whichever layer set them (RFC 9111 section 4.1): all, except `Accept-Encoding` and `Origin`
 * where only an outer layer chooses by them, and except those that the route ignores.
 */
export function selectingNames(head: ResponseHead | undefined, ignored: readonly string[] = []): readonly string[] {
  const before = varyNames(head?.before ?? {})
  const inner = varyNames(head?.fields ?? {}).filter((name) => !before.includes(name))
  const outer = [...before, ...varyNames(head?.outer ?? {})].filter((name) => {
    const shown = OF_OUTER_LAYERS.get(name)
    return shown === undefined || !sameValue(head?.fields[shown], head?.before[shown])
  })
  return [...new Set([...inner, ...outer])].filter((name) => !ignored.includes(name)).toSorted()
}

/** The names listed in `Connection`: these fields belong to the connection. */
function connectionNames(fields: HeaderFields): readonly string[] {
  return linesOf(fields, 'connection')
    .flatMap((line) => line.split(','))
    .map((name) => name.trim().toLowerCase())
}
