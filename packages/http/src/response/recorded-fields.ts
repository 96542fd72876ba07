import { type HeaderFields, linesOf, noFields, sameValue } from '../fields/header-fields.ts'
import type { ResponseHead } from './response-head.ts'
import { varyNames } from './vary.ts'

/** RFC 9111 section 3.1: what concerns one connection, one request, or is made anew with each answer. */
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

/** Only what differs from what stood there before the handler began: the rest belongs to this request and is set anew on each hit. */
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

/** What of the layers outside must not stand on a hit: what the inside took away, and `Trailer`, for what is kept has none. */
export function removedFields({ fields, before }: Pick<ResponseHead, 'fields' | 'before'>): string[] {
  return Object.keys(before).filter((name) => name === 'trailer' || !(name in fields))
}

/** What layers outside ours vary by is theirs: they stand before each hit too. */
export function addedVary(head: ResponseHead | undefined): readonly string[] {
  const before = varyNames(head?.before ?? {})
  return varyNames(head?.fields ?? {}).filter((name) => !before.includes(name))
}

/** The fields that `Connection` names belong to the connection as well. */
function connectionNames(fields: HeaderFields): readonly string[] {
  return linesOf(fields, 'connection')
    .flatMap((line) => line.split(','))
    .map((name) => name.trim().toLowerCase())
}
