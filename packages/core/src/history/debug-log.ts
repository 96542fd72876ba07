import { debuglog, inspect } from 'node:util'
import { eventNames } from '../events/cache-events.ts'
import type { Events } from '../events/events.ts'

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

/** Prints one event as a line. Times are rounded to 0.1 ms. */
export function debugEvent({ cache, type, ...fields }: { readonly cache: string; readonly type: string }): void {
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => `${field}=${textOf(value)}`)
  debug('%s', [cache, type, ...texts].join(' '))
}

function textOf(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (typeof value === 'number') return String(Math.round(value * 10) / 10)
  return inspect(value, { breakLength: Infinity, compact: true, depth: 1 })
}
