import type { CacheEvent, EventName, Failure } from '@cattlegrid/core'
import { failureOf } from '@cattlegrid/core/extend'

/**
 * The name of an event that a history keeps. Hits and renewals are too frequent. A listener of `warning`
 * would keep the process from printing it.
 */
export type RecordedType = Exclude<EventName, 'hit' | 'stale-hit' | 'renew' | 'warning'>

/** An event as a history keeps it: no value, and of an error its name, code and message. */
export interface RecordedEvent {
  readonly type: RecordedType
  /** The moment of the event, ms since 1970 by the clock of its process. */
  readonly at: number
  /** The last of `count` equal events, ms since 1970. */
  readonly until: number
  /** The number of calls that did the same, one after the other: of `miss`, `join` and `answer`. */
  readonly count: number
  readonly key: string | undefined
  /** The other fields of the event, by name. */
  readonly fields: Readonly<Record<string, RecordedField>>
  /** The error, if the event has one. Other processes get its message only with `shareErrorMessages`. */
  readonly failure: Failure | undefined
}

/** The fields of an event, and its error. */
export type EventDetails = Pick<RecordedEvent, 'fields' | 'failure'>

/** A field of a recorded event. */
export type RecordedField = string | number | boolean | readonly string[]

const LONGEST_TEXT = 256

/** True for an event that may hold values, in its error. */
export function holdsError(event: CacheEvent): boolean {
  return errorOf(event) !== undefined
}

/** What a history keeps of an event. An error may hold values: its name, code and message are kept. */
export function detailsOf(event: object): EventDetails {
  const fields: Record<string, RecordedField> = {}
  for (const [name, value] of Object.entries(event)) if (!IDENTITY.has(name)) addField(fields, name, value)
  const error = errorOf(event)
  return { fields, failure: error === undefined ? undefined : failureOf(error, true) }
}

const IDENTITY = new Set(['type', 'cache', 'key', 'error'])

function addField(fields: Record<string, RecordedField>, name: string, value: unknown): void {
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
