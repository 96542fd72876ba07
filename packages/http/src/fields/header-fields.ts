import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'

/** Header fields by lower-case name; a list where the field has several lines. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>

/** A field's value as Node or a framework has it. */
export type FieldValue = HeaderFields[string] | OutgoingHttpHeader

/** An empty object without a prototype: `'constructor' in fields` is true only for a field of that name. */
export function noFields(): Record<string, string | string[]> {
  return Object.create(null) as Record<string, string | string[]>
}

/** Converts the result of `getHeaders()`: numbers become text, names lower-case. */
export function toFields(headers: Readonly<OutgoingHttpHeaders>): Record<string, string | string[]> {
  const fields = noFields()
  for (const name of Object.keys(headers)) {
    const text = toText(headers[name])
    if (text !== undefined) fields[name.toLowerCase()] = text
  }
  return fields
}

/** Converts the result of `getHeader()`. */
export function toText(value: FieldValue | undefined): string | string[] | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'object' ? value.map(String) : String(value)
}

/** The lines of a field; none where it is absent. */
export function linesOf(fields: HeaderFields, name: string): readonly string[] {
  const value = fields[name]
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/** True if two values of one field are the same on the wire. */
export function sameValue(one: string | readonly string[] | undefined, other: typeof one): boolean {
  if (one === undefined || other === undefined) return one === other
  return String(one) === String(other) && lengthOf(one) === lengthOf(other)
}

function lengthOf(value: string | readonly string[]): number {
  return typeof value === 'string' ? 1 : value.length
}

/** Trims the white space of a list: spaces and tabs. Not every parser trims other white space. */
export function withoutBlanks(text: string): string {
  let from = 0
  let to = text.length
  while (isBlank(text[from])) from += 1
  while (to > from && isBlank(text[to - 1])) to -= 1
  return text.slice(from, to)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
