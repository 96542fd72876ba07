import type { Codec } from '@cattlegrid/core'
import type { NewEntry, Unkeepable, Version } from '@cattlegrid/core/extend'
import { encodeRecord, type EncodedRecord } from './record.ts'

/** Redis refuses a longer string, in bytes, and closes the connection. */
const LONGEST_STRING = 512 * 1024 ** 2

/** Encodes an entry as a record, or returns why it cannot be stored. */
export function encodeEntry(
  entry: NewEntry,
  codec: Codec,
  version: Version,
  tagSeq: number,
): EncodedRecord | Unkeepable {
  const { maxBytes = LONGEST_STRING } = entry
  try {
    const body: unknown = codec.encode(entry.value)
    if (!(body instanceof Uint8Array)) throw new TypeError('A codec must encode to a Uint8Array')
    const record = encodeRecord({ ...entry, version, tagSeq, codecId: codec.id, body })
    return record.bytes.length <= maxBytes ? record : tooLarge(record.bytes.length, maxBytes)
  } catch (cause) {
    return { kind: 'unkeepable', why: 'encode-failed', cause }
  }
}

function tooLarge(length: number, maxBytes: number): Unkeepable {
  const cause = new RangeError(`The encoded entry has ${length} bytes; at most ${maxBytes} are stored`)
  return { kind: 'unkeepable', why: 'too-large', cause }
}
