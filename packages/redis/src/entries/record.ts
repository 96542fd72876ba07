import { LONGEST_TTL, LONGEST_WINDOW, type Windows } from '@cattlegrid/core/extend'
import { escapeKey, unescapeKey } from '../redis-keys.ts'

/**
 * The head of an entry's record in Redis; numbers are big-endian. Bytes 0–39 never change their meaning,
 * because the scripts of every version read them. The rest depends on the format version in byte 1.
 *
 *      0 magic C5        1 format version           2 flags, none yet
 *      4 time to keep, ms (6 bytes)                10 the longer stale window, ms (6 bytes); explicitly expired: the time to keep
 *     16 load time, ms (4 bytes)                   20 staleWhileRevalidate, ms (4 bytes)
 *     24 version of the entry: 16 digits, an identity that is never ordered; explicitly expired: the first as a letter, 'p' for 0 to 'y' for 9
 *     40 staleIfError, ms (4 bytes)                44 tag sequence when the load began (8 bytes)
 *     52 codec          53 number of tags (2 bytes), then each with its length before it (2 bytes)          then the encoded value
 */
export interface RecordHead {
  /** The time to live of the record when it is written, ms. */
  readonly keepFor: number
  /** The longer stale window, ms. The entry is fresh while its time to live exceeds this. */
  readonly staleFor: number
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly loadTime: number
  /** The raw bytes of the version, one character each. */
  readonly version: string
  /** True for an explicitly expired entry: it is never fresh, whatever its time to live. */
  readonly expired: boolean
  readonly tagSeq: number
  readonly tags: readonly string[]
  readonly codecId: number
  /** Where the encoded value begins. */
  readonly bodyStart: number
}

/** A record with its encoded value. */
export interface StoredRecord extends RecordHead {
  readonly body: Buffer
}

/** The byte range of the version. */
export const VERSION_START = 24
export const VERSION_END = 40

/** A version with the mark of an explicit expiry begins with this letter, or a later one. */
const FIRST_MARK = 'p'
/**
 * What a put sends in place of the version, which its script writes. The first versions of this library also
 * left it in every explicitly expired entry.
 */
export const NO_FENCE: string = '0'.repeat(16)

const MAGIC = 0xc5
const FORMAT = 1
const TAGS_START = 53
const MOST_TAGS = 2 ** 16 - 1

/**
 * Whole ms, at least 1: Redis refuses a fraction in the middle of a script, and deletes a key with a time to
 * live of 0.
 */
export function wholeMs(duration: number, longest: number = LONGEST_TTL): number {
  return Math.max(1, Math.min(Math.round(duration), longest))
}

/** The input of `encodeRecord`; `version` has at most 16 digits. */
export interface RecordParts extends Windows {
  readonly loadTime: number
  readonly version: string
  readonly tagSeq: number
  readonly tags: readonly string[]
  readonly codecId: number
  readonly body: Uint8Array
}

/** The time for which Redis keeps an entry, and the part of it in which the entry is stale; whole ms. */
export function lifetimesOf(windows: Windows): { readonly keepFor: number; readonly staleFor: number } {
  const staleFor = Math.max(windowMs(windows.staleWhileRevalidate), windowMs(windows.staleIfError))
  // The sum is limited, because readers compute the age from it: the age is this time minus the time to live.
  return { keepFor: Math.min(wholeMs(windows.ttl) + staleFor, LONGEST_TTL), staleFor }
}

/** A window may be 0; a time to live may not. */
function windowMs(duration: number): number {
  return duration > 0 ? wholeMs(duration, LONGEST_WINDOW) : 0
}

/** The bytes to write, and their time to live, ms. */
export interface EncodedRecord {
  readonly bytes: Buffer
  readonly keepFor: number
}

/** @throws RangeError when there are too many tags, or one is too long. */
export function encodeRecord(parts: RecordParts): EncodedRecord {
  const tags = parts.tags.map((tag) => Buffer.from(escapeKey(tag), 'utf8'))
  if (tags.length > MOST_TAGS || tags.some(({ length }) => length > MOST_TAGS))
    throw new RangeError(`An entry carries at most ${MOST_TAGS} tags of at most ${MOST_TAGS} bytes`)
  const bodyStart = TAGS_START + 2 + tags.reduce((sum, { length }) => sum + 2 + length, 0)
  const bytes = Buffer.allocUnsafe(bodyStart + parts.body.length)
  const keepFor = writeHead(bytes, parts)
  let offset = bytes.writeUInt16BE(tags.length, TAGS_START)
  for (const tag of tags) {
    offset = bytes.writeUInt16BE(tag.length, offset)
    offset += tag.copy(bytes, offset)
  }
  bytes.set(parts.body, bodyStart)
  return { bytes, keepFor }
}

function writeHead(bytes: Buffer, parts: RecordParts): number {
  const { keepFor, staleFor } = lifetimesOf(parts)
  bytes[0] = MAGIC
  bytes[1] = FORMAT
  bytes.writeUInt16BE(0, 2)
  bytes.writeUIntBE(keepFor, 4, 6)
  bytes.writeUIntBE(staleFor, 10, 6)
  bytes.writeUInt32BE(windowMs(parts.loadTime), 16)
  bytes.writeUInt32BE(windowMs(parts.staleWhileRevalidate), 20)
  bytes.write(parts.version.padStart(16, '0'), VERSION_START, 16, 'latin1')
  bytes.writeUInt32BE(windowMs(parts.staleIfError), 40)
  bytes.writeBigUInt64BE(BigInt(parts.tagSeq), 44)
  bytes[52] = parts.codecId
  return keepFor
}

/** The bytes that an acquire compares, whatever is stored at the key; '' when the value is too short. */
export function versionIn(bytes: Buffer): string {
  return bytes.toString('latin1', VERSION_START, VERSION_END)
}

/** Returns undefined for bytes that are no record of this format. */
export function decodeRecord(bytes: Buffer): StoredRecord | undefined {
  const head = decodeHead(bytes)
  return head && { ...head, body: bytes.subarray(head.bodyStart) }
}

/** Decodes the head of a record. Returns undefined for bytes that are no record of this format. */
export function decodeHead(bytes: Buffer): RecordHead | undefined {
  if (!isRecord(bytes)) return undefined
  const tags = bytes.readUInt16BE(TAGS_START) === 0 ? NO_TAGS : readTags(bytes)
  if (tags === undefined) return undefined
  const staleWhileRevalidate = bytes.readUInt32BE(20)
  const staleIfError = bytes.readUInt32BE(40)
  const version = versionIn(bytes)
  return {
    keepFor: bytes.readUIntBE(4, 6),
    // Not bytes 10-15: in an explicitly expired entry, those are for the readers of version 0.x, which do not
    // know the mark.
    staleFor: Math.max(staleWhileRevalidate, staleIfError),
    loadTime: bytes.readUInt32BE(16),
    staleWhileRevalidate,
    version,
    expired: version >= FIRST_MARK || version === NO_FENCE,
    staleIfError,
    tagSeq: bytes.readUInt32BE(44) * 2 ** 32 + bytes.readUInt32BE(48),
    codecId: bytes.readUInt8(52),
    tags: tags.list,
    bodyStart: tags.end,
  }
}

/** True if the bytes are the record of this head: equal versions imply equal heads. */
export function startsWithHead(bytes: Buffer, { version, bodyStart }: RecordHead): boolean {
  if (!isRecord(bytes) || bytes.length < bodyStart) return false
  // Compared byte by byte: a string per hit would be garbage to collect.
  for (let place = 0; place < version.length; place += 1)
    if (bytes[VERSION_START + place] !== version.charCodeAt(place)) return false
  return true
}

/** True if the bytes begin as a record of this format does. */
export function isRecord(bytes: Buffer): boolean {
  return bytes.length >= TAGS_START + 2 && bytes[0] === MAGIC && bytes[1] === FORMAT
}

/** True if another version of the library wrote the bytes, in a record format that this one does not know. */
export function isOtherFormat(bytes: Buffer): boolean {
  return bytes.length >= VERSION_END && bytes[0] === MAGIC && bytes[1] !== FORMAT
}

interface Tags {
  readonly list: readonly string[]
  /** Where the body begins. */
  readonly end: number
}

const NO_TAGS: Tags = { list: [], end: TAGS_START + 2 }

function readTags(bytes: Buffer): Tags | undefined {
  const list: string[] = []
  let end = TAGS_START + 2
  for (let left = bytes.readUInt16BE(TAGS_START); left > 0; left -= 1) {
    if (end + 2 > bytes.length) return undefined
    const start = end + 2
    end = start + bytes.readUInt16BE(end)
    const tag = end > bytes.length ? undefined : unescapeKey(bytes.toString('utf8', start, end))
    if (tag === undefined) return undefined
    list.push(tag)
  }
  return { list, end }
}
