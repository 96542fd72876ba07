import type { Codec } from '@cattlegrid/core'
import { validateHeaderName, validateHeaderValue } from 'node:http'

/** An answer as a handler gave it: the value that the cache keeps for a key. */
export interface RecordedResponse {
  readonly status: number
  /** What the inside added, `date` always among it. */
  readonly fields: Readonly<Record<string, string | string[]>>
  /** Fields of layers outside ours that the inside took away. */
  readonly removed: readonly string[]
  readonly body: Buffer
  /** How old it was already when it was recorded, s. */
  readonly initialAge: number
}

type Head = Omit<RecordedResponse, 'body'>

const FORMAT = 1
const PREFIX = 5

/** One byte of format, four of the head's length, the head as JSON, then the body as it is. */
export const recordedResponseCodec: Codec<RecordedResponse> = {
  id: 255,
  encode({ body, ...head }) {
    const text = Buffer.from(JSON.stringify(head), 'utf8')
    const prefix = Buffer.alloc(PREFIX)
    prefix.writeUInt8(FORMAT, 0)
    prefix.writeUInt32BE(text.length, 1)
    return Buffer.concat([prefix, text, body])
  },
  decode(bytes) {
    if (bytes.length < PREFIX || bytes.readUInt8(0) !== FORMAT) throw new TypeError('not a recorded response')
    const end = PREFIX + bytes.readUInt32BE(1)
    if (end > bytes.length) throw new TypeError('a recorded response that was cut off')
    const head = headOf(JSON.parse(bytes.toString('utf8', PREFIX, end)))
    return { ...head, body: bytes.subarray(end) }
  },
}

/** What stands in a store is somebody else's word until it is checked: a bad field would throw when it is served. */
function headOf(value: unknown): Head {
  const { status, fields, removed, initialAge } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (!isStatus(status) || !isAge(initialAge) || !isNames(removed) || !isFields(fields))
    throw new TypeError('a recorded response with a head that cannot be served')
  return { status, fields, removed, initialAge }
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
