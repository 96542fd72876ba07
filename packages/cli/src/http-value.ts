import { isUtf8 } from 'node:buffer'
import type { Codec } from '@cattlegrid/core'
import { type RecordedResponse, type Stored, storedCodec } from '@cattlegrid/http'
import { displayKeys, escapeControls, formatSize, type Row } from './print.ts'
import { cut, type JsonValue, jsonValue, valueLines } from './value.ts'

/** Fields that may hold credentials: they are not shown, whatever put them into a stored response. */
const SECRET =
  /^(?:set-cookie2?|cookie|authorization|proxy-authorization|(?:proxy-)?authentication-info|.*(?:api-?key|token|secret).*)$/
const HIDDEN = '(not shown)'

/** The bytes of a value that @cattlegrid/http has encoded. */
export class HttpBytes {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/** Marks the values of @cattlegrid/http, so that one that cannot be decoded is still known as such. */
export const httpCodec: Codec<HttpBytes> = {
  id: storedCodec.id,
  encode: ({ bytes }) => bytes,
  decode: (bytes) => new HttpBytes(bytes),
}

/** A value as `inspect` shows it. */
export interface ShownValue {
  readonly rows: readonly Row[]
  readonly json: JsonValue
  readonly notes: readonly string[]
}

export function showValue(value: unknown): ShownValue {
  if (!(value instanceof HttpBytes)) return plain(value)
  try {
    return shownStored(storedCodec.decode(value.bytes))
  } catch {
    return plain(value.bytes, ['The value is no HTTP response that this version of @cattlegrid/http can read'])
  }
}

function plain(value: unknown, notes: readonly string[] = []): ShownValue {
  return { rows: [['value', ...valueLines(value)]], json: jsonValue(value), notes }
}

function shownStored(stored: Stored): ShownValue {
  if ('vary' in stored) {
    const { vary } = stored
    const count = `${vary.length} ${vary.length === 1 ? 'field' : 'fields'}`
    const notes = ['The responses are stored under keys of their own: inspect --page lists them']
    return { rows: [['varies by', `${displayKeys(vary)} (${count})`]], json: { form: 'vary', value: { vary } }, notes }
  }
  return { rows: rowsOf(stored), json: { form: 'http', value: documentOf(stored) }, notes: [] }
}

function rowsOf(response: RecordedResponse): readonly Row[] {
  const lines = Object.entries(shownFields(response)).flatMap(([name, value]) =>
    [value].flat().map((line) => cut(`${name}: ${escapeControls(line)}`)),
  )
  return [
    ['status', String(response.status)],
    ['fields', ...(lines.length === 0 ? ['none'] : lines)],
    ['body', bodyLine(response.body)],
  ]
}

/** Text begins here; other bytes, such as a compressed body, are only counted. */
function bodyLine(body: Buffer): string {
  if (body.length === 0) return 'none'
  return isUtf8(body) ? (valueLines(body)[0] ?? '') : `${formatSize(body.length)}, not text`
}

function documentOf(response: RecordedResponse): object {
  const { status, removed, initialAge, usableFor = null, body } = response
  const text = isUtf8(body)
  const value = body.toString(text ? 'utf8' : 'base64')
  const shown = { size: body.length, form: text ? 'text' : 'base64', value }
  return { status, fields: shownFields(response), removed, initialAge, usableFor, body: shown }
}

function shownFields({ fields }: RecordedResponse): Readonly<Record<string, string | string[]>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, SECRET.test(name) ? HIDDEN : value]))
}
