import { type Codec, MAX_ENTRY_BYTES, type NewEntry, type Unkeepable, type Version } from '@cattlegrid/core'
import { encodeRecord, type EncodedRecord } from './record.ts'

/** The record of an entry, or why there can be none. */
export function encodeEntry(
  entry: NewEntry,
  codec: Codec,
  version: Version,
  tagSeq: number,
): EncodedRecord | Unkeepable {
  const { maxBytes = MAX_ENTRY_BYTES } = entry
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
  const cause = new RangeError(`${length} bytes are more than may be kept in one entry (${maxBytes})`)
  return { kind: 'unkeepable', why: 'too-large', cause }
}
