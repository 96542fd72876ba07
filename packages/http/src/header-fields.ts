import type { OutgoingHttpHeaders } from 'node:http'

/** Header fields by lower-case name; a list where the field has several lines. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>

/** What `getHeaders()` returns, as fields: numbers become text, names lower-case. */
export function toFields(headers: Readonly<OutgoingHttpHeaders>): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) fields[name.toLowerCase()] = Array.isArray(value) ? value.map(String) : String(value)
  }
  return fields
}

/** The lines of a field; none where it is absent. */
export function linesOf(fields: HeaderFields, name: string): readonly string[] {
  const value = fields[name]
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/** Whether two values of one field are the same on the wire. */
export function sameValue(one: string | readonly string[] | undefined, other: typeof one): boolean {
  if (one === undefined || other === undefined) return one === other
  return String(one) === String(other) && lengthOf(one) === lengthOf(other)
}

function lengthOf(value: string | readonly string[]): number {
  return typeof value === 'string' ? 1 : value.length
}
