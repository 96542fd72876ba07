import { type HeaderFields, linesOf, noFields, sameValue } from '../fields/header-fields.ts'
import type { ResponseHead } from './response-head.ts'
import { varyNames } from './vary.ts'

/** Fields of one connection or one request, and fields that are new in each response (RFC 9111 section 3.1). */
const NEVER_STORED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'set-cookie',
  'age',
  'content-length',
])

/** The fields to store: those that differ from the fields `before` the handler. Outer layers set the others anew on each hit. */
export function addedFields(
  fields: HeaderFields,
  before: HeaderFields,
  strip: readonly string[],
): Record<string, string | string[]> {
  const added = noFields()
  for (const [name, value] of Object.entries(fields)) {
    if (NEVER_STORED.has(name) || sameValue(value, before[name])) continue
    added[name] = typeof value === 'string' ? value : [...value]
  }
  for (const name of [...connectionNames(fields), ...strip]) delete added[name]
  return added
}

/** The fields of outer layers to remove on a hit: those that inner layers removed, and `Trailer`, because a stored response has no trailers. */
export function removedFields({ fields, before }: Pick<ResponseHead, 'fields' | 'before'>): string[] {
  return Object.keys(before).filter((name) => name === 'trailer' || !(name in fields))
}

/** By these, outer layers make their own responses of a stored one, compression and CORS; unless the handler set the field that the choice shows in. */
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

/** The fields that `Connection` names belong to the connection as well. */
function connectionNames(fields: HeaderFields): readonly string[] {
  return linesOf(fields, 'connection')
    .flatMap((line) => line.split(','))
    .map((name) => name.trim().toLowerCase())
}
