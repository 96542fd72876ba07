import type { Codec } from '@cattlegrid/core'
import { type Entry, type Read, type Unreadable, type Version, makeEntry } from '@cattlegrid/core/extend'
import type { Expiry } from './expiry-cache.ts'
import type { RecordHead } from './record.ts'

/** The result of a read that Redis answered. */
export type ReadResult = Exclude<Read, { kind: 'away' }>

/** The expiry of a version, and the head of its record. */
export interface RecordExpiry extends Expiry {
  readonly head: RecordHead
}

/** A class: see docs/decisions/0013. */
class FoundEntry {
  readonly kind = 'found'
  readonly entry: Entry

  constructor(entry: Entry) {
    this.entry = entry
  }
}

/** Returns the entry of a record, or why the codec could not decode its value. */
export function decodeEntry(bytes: Buffer, expiry: RecordExpiry, codec: Codec): ReadResult {
  const { head } = expiry
  const body = bytes.subarray(head.bodyStart)
  if (head.codecId !== codec.id) return unreadable(head.version, 'other-codec', codecMismatch(head, codec))
  try {
    return new FoundEntry(entryOf(head, codec.decode(body), body, expiry))
  } catch (cause) {
    return unreadable(head.version, 'undecodable', cause)
  }
}

/** The miss of a key whose bytes are no entry of this codec. */
export function unreadable(version: Version, why: Unreadable['why'], cause: unknown): ReadResult {
  return { kind: 'missing', version, because: { why, cause } }
}

function codecMismatch({ codecId }: RecordHead, { id }: Codec): TypeError {
  return new TypeError(`The entry was encoded by codec ${codecId}, this one is codec ${id}`)
}

/**
 * An entry is fresh while its time to live exceeds its stale window. Both are durations, so no host's time of
 * day is involved. A longer time to live than the entry can have means that the server's clock was set back:
 * all of its windows are left. One without an end was not set by the library: it is stale.
 */
export function expiryOf(head: RecordHead, left: number, sentAt: number): Expiry {
  const { keepFor, staleFor } = head
  const rest = left < 0 ? staleFor : Math.min(left, longestLife(head))
  return { committedAt: sentAt - (keepFor - rest), freshUntil: sentAt + rest - staleFor }
}

/** The longest time to live that a record may have, ms. */
export function longestLife({ keepFor, staleFor, expired }: RecordHead): number {
  return expired ? staleFor : keepFor
}

export function entryOf(head: RecordHead, value: unknown, encoded: Buffer, { committedAt, freshUntil }: Expiry): Entry {
  const { version, expired, staleWhileRevalidate, staleIfError, loadTime, tags, tagSeq } = head
  const content = { value, encoded, staleWhileRevalidate, staleIfError, tags }
  return makeEntry(
    content,
    { version, committedAt, freshUntil, expired, loadTime, tagSeq, size: encoded.length },
    'store',
  )
}
