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

/**
 * Fields for the client of one request (RFC 9111 section 3.1); `Server-Timing` tells how long its
 * response took.
 */
const OF_ONE_CLIENT = [
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'server-timing',
  'set-cookie',
]

/**
 * Fields that describe the body. They are stored with it, whichever layer set them: outer layers may describe
 * another body for the client of a hit. Not `Content-Encoding`: an outer layer that has set it encodes the
 * stored body, too, for each client anew.
 */
export const OF_THE_BODY: ReadonlySet<string> = new Set(['content-type', 'content-language'])

/** What the inside has written of the fields of a response. */
export interface InsideFields {
  /** They replace what layers outside set. */
  readonly fields: AddedFields
  /** They continue it: lines, or a text that follows a comma. */
  readonly appended: AddedFields
}

type Written = Pick<ResponseHead, 'fields' | 'before' | 'appended'>

/**
 * The fields that a handler has written for its own client: those that differ from what layers outside have
 * set, and those of the body. Outer layers set the others anew.
 */
export function insideFields({ fields, before, appended = {} }: Written): InsideFields {
  const inside: InsideFields = { fields: noFields(), appended: noFields() }
  for (const [name, value] of Object.entries(fields)) {
    const isOfBody = OF_THE_BODY.has(name)
    if (NEVER_REPEATED.has(name) || (Object.hasOwn(appended, name) && !isOfBody)) continue
    if (isOfBody || !sameValue(value, before[name])) inside.fields[name] = copyOf(value)
  }
  const vary = inside.fields['vary']
  if (vary !== undefined) inside.fields['vary'] = ownNames(vary, varyNames(before))
  for (const [name, value] of Object.entries(appended))
    if (!NEVER_REPEATED.has(name) && !OF_THE_BODY.has(name)) inside.appended[name] = copyOf(value)
  return withoutNames(inside, connectionNames(fields))
}

/** The names in `Vary` that layers outside have not set: those of one client are no other's. */
function ownNames(vary: AddedFields[string], outer: readonly string[]): AddedFields[string] {
  if (outer.length === 0) return vary
  const names = [vary].flat().flatMap((line) => line.split(','))
  return names
    .map((name) => name.trim())
    .filter((name) => !outer.includes(name.toLowerCase()))
    .join(', ')
}

function copyOf(value: HeaderFields[string]): string | string[] {
  return typeof value === 'string' ? value : [...value]
}

/** The fields that are stored. */
export function storedFields(head: Written, strip: readonly string[]): InsideFields {
  return withoutNames(insideFields(head), [...OF_ONE_CLIENT, ...strip])
}

/**
 * A field that would be stored with what a layer outside has set for one client; undefined: there is none.
 */
export function mixedField({ mixed = [] }: Pick<ResponseHead, 'mixed'>, strip: readonly string[]): string | undefined {
  const unstored = [...OF_ONE_CLIENT, ...strip]
  return mixed.find((name) => !NEVER_REPEATED.has(name) && !unstored.includes(name))
}

/** A field of layers outside with what continues it. */
export function continued(outer: HeaderFields[string] | undefined, appended: AddedFields[string]): AddedFields[string] {
  if (outer === undefined) return appended.length === 1 ? (appended[0] ?? '') : appended
  if (typeof outer === 'string' && typeof appended === 'string') return `${outer}, ${appended}`
  return [outer, appended].flat()
}

function withoutNames(inside: InsideFields, names: readonly string[]): InsideFields {
  for (const name of names) {
    delete inside.fields[name]
    delete inside.appended[name]
  }
  return inside
}

/**
 * The fields of outer layers to remove on a hit: those that inner layers removed, the type of another body
 * where the stored one has none, and `Trailer`, because a stored response has no trailers.
 */
export function removedFields({ fields, before }: Pick<ResponseHead, 'fields' | 'before'>): string[] {
  const names = new Set(['content-type', ...('trailer' in fields ? ['trailer'] : []), ...Object.keys(before)])
  return [...names].filter(
    (name) => name === 'trailer' || !(name in fields || (before[name] === '' && NEVER_REPEATED.has(name))),
  )
}

/**
 * Outer layers choose by these request fields (compression, CORS). A choice of the handler shows in the
 * response field.
 */
export const OF_OUTER_LAYERS: ReadonlyMap<string, string> = new Map([
  ['accept-encoding', 'content-encoding'],
  ['origin', 'access-control-allow-origin'],
])

/**
 * The names in `Vary` that select a stored response, whichever layer set them (RFC 9111 section 4.1): all,
 * except `Accept-Encoding` and `Origin` where only an outer layer chooses by them, and except those that the
 * route ignores.
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
