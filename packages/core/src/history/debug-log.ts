import { debuglog, inspect } from 'node:util'
import { failureName } from '../errors.ts'
import { eventNames } from '../events/cache-events.ts'
import type { Events } from '../events/events.ts'
import { detailsOf } from './recorded-event.ts'

const debug = debuglog('cattlegrid')

/** True where the environment has `NODE_DEBUG=cattlegrid`. */
export const isDebugged: boolean = debug.enabled

/** Prints each event of a cache, in the order of the steps, where that is asked for. */
export function debugEvents(events: Events): void {
  if (!isDebugged) return
  for (const name of eventNames) {
    // The process prints a warning that nobody listens for.
    if (name !== 'warning') events.on(name, debugEvent)
  }
}

/** Prints one event as a line. Times are rounded to 0.1 ms. Of an error it has the name and the code, and no value at all. */
export function debugEvent(event: { readonly cache: string; readonly type: string }): void {
  const { fields, failure } = detailsOf(event)
  const texts = Object.entries(fields).map(([field, value]) => `${field}=${textOf(value)}`)
  const key = 'key' in event ? [`key=${textOf(event.key)}`] : []
  const error = failure === undefined ? [] : [`error=${failureName(failure)}`]
  debug('%s', [event.cache, event.type, ...key, ...texts, ...error].join(' '))
}

function textOf(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 10) / 10)
  return inspect(value, { breakLength: Infinity, compact: true, depth: 1 })
}
