import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type HeaderFields, noFields, toFields } from './header-fields.ts'

/**
 * What `writeHead` is given, merged with what was set before: flat lists may repeat a name,
 * `[status, headers]` has no reason.
 */
export function parseHead(
  res: ServerResponse,
  args: readonly unknown[],
): { readonly status: number; readonly fields: HeaderFields } {
  const fields = toFields(res.getHeaders())
  if (passedTo(args) !== undefined) Object.assign(fields, fieldsIn(args))
  return { status: Number(args[0]), fields }
}

/** The fields among the arguments of `writeHead`. */
export function fieldsIn(args: readonly unknown[]): Record<string, string | string[]> {
  return passedFields(passedTo(args))
}

/**
 * The fields of a head that Node has accepted. `getHeaders` has all of them, or none: Node does not set those
 * that an outer layer passed to `writeHead` of a response on which no field was set before.
 */
export function sentFields(res: ServerResponse): HeaderFields {
  const fields = toFields(res.getHeaders())
  for (const _ in fields) return fields
  const { _header: text } = res as { readonly _header?: unknown }
  const lines = typeof text === 'string' ? text.split('\r\n').slice(1) : []
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon > 0) addLine(fields, line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return fields
}

/**
 * Adds fields to a head; returns the arguments for `writeHead`. Fields that are passed would replace those
 * that are set; and of a flat list that repeats a name, Node 20 sends the last line only. Such a list, and
 * one to which a field is added, is set instead: all its lines are sent.
 */
export function addToHead(
  res: ServerResponse,
  args: readonly unknown[],
  added: Readonly<Record<string, string>>,
): readonly unknown[] {
  const list = args.find((argument) => Array.isArray(argument)) as readonly unknown[] | undefined
  // Node throws for it, as long as it comes unchanged.
  if (list !== undefined && !isWellFormed(flatOf(list))) return args
  const passed = list === undefined ? {} : passedFields(list)
  const repeats = Object.values(passed).some((lines) => typeof lines !== 'string')
  if (!repeats && Object.keys(added).length === 0) return args
  for (const [name, value] of Object.entries({ ...passed, ...added })) res.setHeader(name, value)
  return args
    .filter((argument) => argument !== list)
    .map((argument) => (typeof argument === 'object' && argument !== null ? without(argument, added) : argument))
}

/** Sets the fields of another head in place of this one; returns the arguments of its `writeHead`. */
export function setInsteadOf(
  res: ServerResponse,
  args: readonly unknown[],
  status: number,
  { removed, fields }: { readonly removed: readonly string[]; readonly fields: Readonly<Record<string, string>> },
): readonly unknown[] {
  for (const name of removed) res.removeHeader(name)
  for (const [name, value] of Object.entries({ ...passedFields(passedTo(args)), ...fields }))
    if (!removed.includes(name)) res.setHeader(name, value)
  return [status]
}

/** Names and values in turn, also of a list of pairs. */
function flatOf(list: readonly unknown[]): readonly unknown[] {
  return Array.isArray(list[0]) ? list.flat() : list
}

function isWellFormed(flat: readonly unknown[]): boolean {
  return flat.length % 2 === 0 && !flat.includes(undefined)
}

function without(passed: object, names: object): object {
  return Object.fromEntries(Object.entries(passed).filter(([name]) => !Object.hasOwn(names, name.toLowerCase())))
}

function passedTo([, reason, headers]: readonly unknown[]): unknown {
  return typeof reason === 'string' ? headers : (headers ?? reason)
}

function passedFields(passed: unknown): Record<string, string | string[]> {
  if (!Array.isArray(passed)) return toFields((passed ?? {}) as OutgoingHttpHeaders)
  const flat = flatOf(passed)
  const fields = noFields()
  for (let index = 0; index + 1 < flat.length; index += 2) addLine(fields, String(flat[index]), flat[index + 1])
  return fields
}

/** Adds a value, which may be a list of lines, to those that the field has. */
function addLine(fields: Record<string, string | string[]>, name: string, value: unknown): void {
  const key = name.toLowerCase()
  const present = fields[key]
  if (present === undefined && typeof value === 'string') {
    fields[key] = value
    return
  }
  const lines = [present ?? [], value].flat(2).map(String)
  fields[key] = lines.length === 1 ? (lines[0] ?? '') : lines
}
