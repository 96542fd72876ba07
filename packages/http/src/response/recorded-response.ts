import type { Codec } from '@cattlegrid/core'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { PAYLOAD_FORMS, type PayloadForm } from './response-head.ts'
import type { VaryRecord } from './vary.ts'

/**
 * The value that the cache stores at a key: a response, or the record of variants of a URL whose
 * responses vary.
 */
export type Stored = RecordedResponse | VaryRecord

/** A handler's response. */
export interface RecordedResponse {
  readonly status: number
  /** The fields that the handler and inner layers added, and always `date`. */
  readonly fields: Readonly<Record<string, string | string[]>>
  /**
   * Fields by which the handler and inner layers continued those of outer layers: lines, or a text that
   * follows a comma. Default: none.
   */
  readonly appended?: Readonly<Record<string, string | string[]>> | undefined
  /** Fields of outer layers that inner layers removed. */
  readonly removed: readonly string[]
  readonly body: Buffer
  /**
   * The layers outside made another body of this one: its length, conditions and ranges are theirs.
   * Default: false.
   */
  readonly rewritten?: boolean | undefined
  /** Hooks of the framework get the payload in this form. */
  readonly form?: PayloadForm | undefined
  /** Its age when it was recorded, s. */
  readonly initialAge: number
  /** How long after its commit it may be served, ms; undefined: as long as the engine keeps it. */
  readonly usableFor?: number | undefined
  /**
   * Only in a response that is shared with waiting requests and not stored: the values of its selecting
   * request fields.
   */
  readonly selectedBy?: Readonly<Record<string, string | undefined>> | undefined
}

type Head = Omit<RecordedResponse, 'body' | 'selectedBy'>

const RESPONSE = 1
const VARY = 2
const PREFIX = 5

export function isVaryRecord(stored: Stored): stored is VaryRecord {
  return 'vary' in stored
}

/**
 * True if a response may be served `age` ms after its commit: not where it is kept only to be revalidated.
 */
export function isUsable({ usableFor = Infinity }: RecordedResponse, age: number): boolean {
  // The age may be slightly negative: the engine's coarse clock is read once for many entries.
  return Math.max(0, age) < usableFor
}

/**
 * A response is stored as one byte for the format, four bytes for the length of the head, the head as JSON,
 * and the body. A record of variants is one byte and JSON.
 */
export const storedCodec: Codec<Stored> = {
  id: 4,
  immutable: true,
  encode(stored) {
    if (isVaryRecord(stored)) return Buffer.concat([Buffer.of(VARY), Buffer.from(JSON.stringify(stored), 'utf8')])
    const { body, selectedBy: _, ...head } = stored
    const text = Buffer.from(JSON.stringify(head), 'utf8')
    const prefix = Buffer.alloc(PREFIX)
    prefix.writeUInt8(RESPONSE, 0)
    prefix.writeUInt32BE(text.length, 1)
    return Buffer.concat([prefix, text, body])
  },
  decode(bytes) {
    if (bytes[0] === VARY) return recordOf(JSON.parse(bytes.toString('utf8', 1)))
    if (bytes.length < PREFIX || bytes[0] !== RESPONSE) throw new TypeError('not a recorded response')
    const end = PREFIX + bytes.readUInt32BE(1)
    if (end > bytes.length) throw new TypeError('a recorded response that was cut off')
    const head = headOf(JSON.parse(bytes.toString('utf8', PREFIX, end)))
    return { ...head, body: bytes.subarray(end) }
  },
}

function recordOf(value: unknown): VaryRecord {
  const { vary, id } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (!isNames(vary) || typeof id !== 'string') throw new TypeError('a record of variants that cannot be used')
  return { vary, id }
}

/** A stored head is not trusted: an invalid field would throw when the response is served. */
function headOf(value: unknown): Head {
  const {
    status,
    fields,
    appended,
    rewritten,
    removed,
    initialAge,
    usableFor,
    form: given,
  } = (value ?? {}) as Readonly<Record<string, unknown>>
  const usable = usableFor === undefined || isAge(usableFor)
  const hasFields = isFields(fields) && (appended === undefined || isFields(appended))
  if (!isStatus(status) || !isAge(initialAge) || !isNames(removed) || !hasFields || !usable)
    throw new TypeError('a recorded response with a head that cannot be served')
  const form = PAYLOAD_FORMS.find((known) => known === given)
  const optional = {
    ...(usableFor === undefined ? {} : { usableFor }),
    ...(form === undefined ? {} : { form }),
    ...(appended === undefined ? {} : { appended }),
    ...(rewritten === true ? { rewritten } : {}),
  }
  return { status, fields, removed, initialAge, ...optional }
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599
}

function isAge(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && isField(name, ''))
}

function isFields(value: unknown): value is Record<string, string | string[]> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(([name, lines]) =>
    (Array.isArray(lines) ? (lines as unknown[]) : [lines]).every(
      (line) => typeof line === 'string' && isField(name, line),
    ),
  )
}

function isField(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return name === name.toLowerCase()
  } catch {
    return false
  }
}
