import { isUtf8 } from 'node:buffer'
import { inspect, isDeepStrictEqual } from 'node:util'
import { formatSize, escapeControls } from './print.ts'

const MOST_LINES = 24
const LONGEST_LINE = 160
const MOST_BYTES = 120

/**
 * A readable value, cut to the size of a screen, with the characters escaped that would control a terminal.
 */
export function valueLines(value: unknown): readonly string[] {
  const lines = value instanceof Uint8Array ? [bytesLine(Buffer.from(value))] : inspected(value).split('\n')
  const shown = lines.slice(0, MOST_LINES).map((line) => cut(escapeControls(line)))
  const rest = lines.length - shown.length
  return rest === 0 ? shown : [...shown, `… ${rest} more lines; --json shows all of them`]
}

/** A line, cut to the width of a screen. */
export function cut(line: string): string {
  // The cut may split a surrogate pair: escape the half that is left.
  return line.length <= LONGEST_LINE ? line : `${escapeControls(line.slice(0, LONGEST_LINE - 1))}…`
}

function bytesLine(bytes: Buffer): string {
  const whole = bytes.length <= MOST_BYTES
  const text = isUtf8(bytes) ? JSON.stringify(bytes.toString('utf8').slice(0, MOST_BYTES)) : undefined
  const shown = text ?? (bytes.toString('hex', 0, MOST_BYTES / 3).match(/../g) ?? []).join(' ')
  return `${formatSize(bytes.length)}: ${shown}${whole && text !== undefined ? '' : ' …'}`
}

function inspected(value: unknown): string {
  try {
    return inspect(value, { depth: 4, maxArrayLength: 20, maxStringLength: 400, breakLength: 80, customInspect: false })
  } catch {
    return `a value of type ${typeof value} that cannot be printed`
  }
}

/**
 * A value in a JSON document: itself if JSON can represent it, base64 for bytes, the parts of what an HTTP
 * cache stores, else a description.
 */
export interface JsonValue {
  readonly form: 'json' | 'base64' | 'http' | 'vary' | 'text'
  readonly value: unknown
}

export function jsonValue(value: unknown): JsonValue {
  if (value instanceof Uint8Array) return { form: 'base64', value: Buffer.from(value).toString('base64') }
  return survivesJson(value) ? { form: 'json', value } : { form: 'text', value: inspected(value) }
}

function survivesJson(value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value)
  } catch {
    return false
  }
}
