import { type Failure, failureOf } from '../errors.ts'
import type { CacheEvent, EventName } from '../events/cache-events.ts'

/** Too frequent, or without a story. `warning`: with a listener, the process would not print it. */
const UNRECORDED = ['hit', 'stale-hit', 'renew', 'warning'] as const

/** The name of an event that a history keeps. */
export type RecordedType = Exclude<EventName, (typeof UNRECORDED)[number]>

/** An event as a history keeps it: no value, and of an error its name, code and message. */
export interface RecordedEvent {
  readonly type: RecordedType
  /** The moment of the event, ms since 1970 by the clock of its process. */
  readonly at: number
  /** The last of `count` equal events, ms since 1970. */
  readonly until: number
  /** So many calls did the same, one after the other: `miss`, `join` and `answer`. */
  readonly count: number
  readonly key: string | undefined
  /** The other fields of the event, by name. */
  readonly fields: Readonly<Record<string, Field>>
  /** The error, where the event has one; its message only in the process of the event, and elsewhere with `shareErrorMessages`. */
  readonly failure: Failure | undefined
}

/** The fields of an event, and its error. */
export type EventDetails = Pick<RecordedEvent, 'fields' | 'failure'>

/** A field of a recorded event. */
export type Field = string | number | boolean | readonly string[]

const LONGEST_TEXT = 256

export function isRecorded(name: EventName): name is RecordedType {
  return !(UNRECORDED as readonly string[]).includes(name)
}

/** True for an event that may hold values, in its error. */
export function holdsError(event: CacheEvent): boolean {
  return errorOf(event) !== undefined
}

/** What a history keeps of an event: `error` and `outcome` in plain words, because an error may hold values. */
export function detailsOf(event: object, withMessage = false): EventDetails {
  const fields: Record<string, Field> = {}
  for (const [name, value] of Object.entries(event)) if (!IDENTITY.has(name)) addField(fields, name, value)
  const error = errorOf(event)
  return { fields, failure: error === undefined ? undefined : failureOf(error, withMessage) }
}

const IDENTITY = new Set(['type', 'cache', 'key', 'error'])

function addField(fields: Record<string, Field>, name: string, value: unknown): void {
  if (typeof value === 'string') fields[name] = value.slice(0, LONGEST_TEXT)
  else if (typeof value === 'number' || typeof value === 'boolean') fields[name] = value
  else if (Array.isArray(value)) fields[name] = value.map((one) => String(one).slice(0, LONGEST_TEXT))
  else if (name === 'outcome' && isObject(value)) {
    addField(fields, 'outcome', value['kind'])
    addField(fields, 'why', value['why'])
  } else if (name === 'holder' && isObject(value)) {
    for (const part of ['lease', 'pid', 'host']) addField(fields, part, value[part])
  }
}

function errorOf(event: object): unknown {
  if ('error' in event) return event.error
  return 'outcome' in event && isObject(event.outcome) ? event.outcome['error'] : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
