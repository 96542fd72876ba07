import type { Entry } from '../entry.ts'
import type { Events } from '../events.ts'
import type { Read } from '../store/store.ts'

/** Returns the entry of a read; emits the event of one that could not be decoded. */
export function entryOf(events: Events, key: string, read: Read): Entry | undefined {
  if (read.kind === 'found') return read.entry
  const because = read.kind === 'missing' ? read.because : undefined
  if (because !== undefined && events.hasListeners('unreadable'))
    events.emit('unreadable', { key, why: because.why, error: because.cause })
  return undefined
}
