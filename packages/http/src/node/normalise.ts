import type { IncomingMessage } from 'node:http'
import { normalHost } from '../fields/normal-host.ts'
import { reduceEncoding } from '../fields/selecting-value.ts'
import type { HandlerInput } from '../request/handler-input.ts'
import { isPlain } from './url-rewrite.ts'
import { readUnreported, unreported } from '../request/watched-fields.ts'

/**
 * Removes from a leader's request the input that its key does not hold. Returns the names of the fields that
 * it has replaced or removed.
 */
export function normaliseRequest(req: IncomingMessage, input: HandlerInput): readonly string[] {
  const { added } = input
  const replaced = replacementsFor(req, input)
  for (const name of Object.keys(added)) replaced.set(name, added[name])
  replaceFields(req, replaced)
  return [...replaced.keys()]
}

/**
 * True if fields can be hidden in `req.headers`: a layer may have replaced it by an object whose fields stay,
 * or are those of another object.
 */
export function hasReplaceableFields(req: IncomingMessage): boolean {
  const { headers } = req
  if (headers !== req.headers || !Object.isExtensible(headers) || !isPlain(headers)) return false
  return Object.keys(headers).every((name) => {
    const field = Object.getOwnPropertyDescriptor(headers, name)
    return field?.configurable === true && (field.writable === true || field.set !== undefined)
  })
}

/** Sets fields, or removes them where the value is undefined, in all three representations. */
export function replaceFields(req: IncomingMessage, replaced: ReadonlyMap<string, string | undefined>): void {
  for (const [name, value] of replaced) replaceField(req, name, value)
  // Defined, not assigned: on a request of HTTP/2 it is a getter.
  const value = replacedRawHeaders(req.rawHeaders, replaced)
  Object.defineProperty(req, 'rawHeaders', { value, configurable: true, enumerable: true, writable: true })
}

/** The new values of the fields that must change; undefined: the field is removed. */
function replacementsFor(
  req: IncomingMessage,
  { host, scheme, path, hidden: { dropped, reduced }, keyed }: HandlerInput,
): Map<string, string | undefined> {
  const lines = rawLinesOf(req)
  const names = new Set([...Object.keys(req.headers), ...Object.keys(distinctOf(req)), ...lines.keys()])
  const replaced = new Map(keyed.filter((name) => names.has(name)).map((name) => [name, shownValue(req, name)]))
  const site = normalHost(scheme, host)
  for (const name of names) {
    if (hasOtherForm(req, name, lines.get(name) ?? [])) replaced.set(name, shownValue(req, name))
    if (dropped.has(name)) replaced.set(name, undefined)
    if (!reduced.has(name)) continue
    // Behind a proxy the key holds the forwarded host, and any client can set `Host`.
    if ((name === 'host' || name === ':authority') && hasOtherValue(req, name, site))
      replaced.set(name, site === '' ? undefined : site)
    if (name === ':scheme' && hasOtherValue(req, name, scheme)) replaced.set(name, scheme)
    if (name === 'x-forwarded-host') replaced.set(name, hasValue(req, name, host) ? site : undefined)
    if (name === 'x-forwarded-proto') replaced.set(name, hasValue(req, name, scheme) ? scheme : undefined)
  }
  // A client of HTTP/2 may send `:authority` alone, which is the same key.
  if (reduced.has('host') && !names.has('host') && site !== '') replaced.set('host', site)
  if (hasOtherValue(req, ':path', path)) replaced.set(':path', path)
  const accepted = req.headers['accept-encoding']
  if (accepted !== undefined) replaced.set('accept-encoding', reduceEncoding(accepted))
  return replaced
}

/** The raw lines of each field. An outer layer may have changed one of the three representations only. */
function rawLinesOf({ rawHeaders }: IncomingMessage): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    const line = rawHeaders[index + 1] ?? ''
    const known = lines.get(name)
    if (known === undefined) lines.set(name, [line])
    else known.push(line)
  }
  return lines
}

/** The value that the key is made of. */
function shownValue({ headers }: IncomingMessage, name: string): string | undefined {
  const value = readUnreported(headers, name)
  return value === undefined ? undefined : String(value)
}

/**
 * True if a field that has one value shows another one elsewhere: a layer outside has changed one
 * representation. HTTP/2 splits `Cookie` into several lines.
 */
function hasOtherForm(req: IncomingMessage, name: string, raw: readonly string[]): boolean {
  if (raw.length > 1) return name === 'cookie'
  const shown = shownValue(req, name)
  const { headersDistinct } = req as Partial<Pick<IncomingMessage, 'headersDistinct'>>
  const distinct = headersDistinct === undefined ? raw : unreported(() => headersDistinct[name] ?? [])
  return [raw, distinct].some((lines) => lines.length > 1 || lines[0] !== shown)
}

/**
 * True if the field lists the value that the framework trusts: frameworks take different members of the list.
 */
function hasValue({ headers }: IncomingMessage, name: string, value: string): boolean {
  const field = headers[name]
  return (
    field !== undefined &&
    String(field)
      .split(',')
      .some((entry) => entry.trim() === value)
  )
}

/** True if any line of a present field has another value. */
function hasOtherValue(req: IncomingMessage, name: string, value: string): boolean {
  const field = req.headers[name]
  if (field === undefined) return false
  // A request over HTTP/2 has no distinct fields.
  const isOther = (_: string, index: number, raw: string[]): boolean =>
    index % 2 === 0 && raw[index]?.toLowerCase() === name && raw[index + 1] !== value
  return field !== value || (distinctOf(req)[name]?.length ?? 1) > 1 || req.rawHeaders.some(isOther)
}

function replacedRawHeaders(raw: readonly string[], replaced: ReadonlyMap<string, string | undefined>): string[] {
  const fields: string[] = []
  for (const [name, value] of replaced) if (value !== undefined) fields.push(name, value)
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    if (!replaced.has(name.toLowerCase())) fields.push(name, raw[index + 1] ?? '')
  }
  return fields
}

/** Sets a field, or removes it where `value` is undefined. The raw fields stay. */
function replaceField(req: IncomingMessage, name: string, value: string | undefined): void {
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
 * Call it before the raw fields change: on the first read, Node derives the distinct fields from the raw
 * ones, and expects as many as arrived. A request that Fastify injects in tests has none.
 */
function distinctOf(req: Partial<Pick<IncomingMessage, 'headersDistinct'>>): NodeJS.Dict<string[]> {
  return req.headersDistinct ?? {}
}
