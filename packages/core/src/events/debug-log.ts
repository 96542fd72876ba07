import { debuglog, inspect } from 'node:util'
import { failureName, failureOf } from '../errors.ts'
import { eventNames } from './cache-events.ts'
import type { Events } from './events.ts'

const debug = debuglog('cattlegrid')

/** True where the environment has `NODE_DEBUG=cattlegrid`. */
const isDebugged: boolean = debug.enabled

/** Prints each event of a cache, in the order of the steps, where that is asked for. */
export function debugEvents(events: Events): void {
  if (!isDebugged) return
  for (const name of eventNames) {
    // The process prints a warning that nobody listens for.
    if (name !== 'warning') events.on(name, debugEvent)
  }
}

/**
 * Prints one event as a line. Times are rounded to 0.1 ms. An error is its name and code, which hold
 * no value.
 */
function debugEvent({ cache, type, ...fields }: { readonly cache: string; readonly type: string }): void {
  debug('%s', [cache, type, ...Object.entries(fields).flatMap(textsOf)].join(' '))
}

/** A field as `name=value`; of an outcome and of a holder each field. */
function textsOf([name, value]: readonly [string, unknown]): readonly string[] {
  if (value === undefined) return []
  if (name === 'error') return [`error=${failureName(failureOf(value))}`]
  if (typeof value === 'number') return [`${name}=${Math.round(value * 10) / 10}`]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${name}=${lineOf(value)}`]
  return Object.entries(value).flatMap(([part, of]) => textsOf([part === 'kind' ? name : part, of]))
}

const lineOf = (value: unknown): string => inspect(value, { breakLength: Infinity, compact: true, depth: 1 })
