import type { Codec } from '@cattlegrid/core'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { VaryRecord } from './vary.ts'

/** What the cache keeps for a key: an answer, or, where answers of a URL vary, by what they do. */
export type Stored = RecordedResponse | VaryRecord

/** An answer as a handler gave it. */
export interface RecordedResponse {
  readonly status: number
  /** What the inside added, `date` always among it. */
  readonly fields: Readonly<Record<string, string | string[]>>
  /** Fields of layers outside ours that the inside took away. */
  readonly removed: readonly string[]
  readonly body: Buffer
  /** How old it was already when it was recorded, s. */
  readonly initialAge: number
  /** May be served stale until so long after its commit, ms; undefined: as long as the engine keeps it. */
  readonly usableFor?: number | undefined
  /** The values of the request fields that chose it: of one that is not stored, but shared with who waits. */
  readonly chosenBy?: Readonly<Record<string, string | undefined>> | undefined
}

type Head = Omit<RecordedResponse, 'body' | 'chosenBy'>

const RESPONSE = 1
const VARY = 2
const PREFIX = 5

export function isVaryRecord(stored: Stored): stored is VaryRecord {
  return 'vary' in stored
}

/** Whether an answer that was committed so long ago, ms, may be served as it is: one that is kept only to be revalidated may not. */
export function isUsable({ usableFor = Infinity }: RecordedResponse, age: number): boolean {
  // By the clock that is read once for many, an answer may be of the next moment.
  return Math.max(0, age) < usableFor
}

/**
 * An answer: one byte of format, four of the head's length, the head as JSON, then the body as it is. A record: its byte, and JSON.
 */
export const storedCodec: Codec<Stored> = {
  id: 4,
  encode(stored) {
    if (isVaryRecord(stored)) return Buffer.concat([Buffer.of(VARY), Buffer.from(JSON.stringify(stored), 'utf8')])
    const { body, chosenBy: _, ...head } = stored
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

/** What stands in a store is somebody else's word until it is checked: a bad field would throw when it is served. */
function headOf(value: unknown): Head {
  const { status, fields, removed, initialAge, usableFor } = (value ?? {}) as Readonly<Record<string, unknown>>
  const usable = usableFor === undefined || isAge(usableFor)
  if (!isStatus(status) || !isAge(initialAge) || !isNames(removed) || !isFields(fields) || !usable)
    throw new TypeError('a recorded response with a head that cannot be served')
  return { status, fields, removed, initialAge, ...(usableFor === undefined ? {} : { usableFor }) }
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
