import type { Codec } from '../../codec/codec.ts'
import { bytesToKeep } from '../../codec/own-bytes.ts'
import { type Entry, makeEntry, type Version } from '../../entry.ts'
import { LruNode } from '../hit-lru.ts'

/** Bytes, at most: as many in a text take half the memory of a Buffer of their own. */
const LARGEST_TEXT = 1024

/** Whose copy it is, and for how long. */
interface CopyState {
  readonly key: string
  readonly codec: Codec
  readonly from: Entry['from']
  readonly until: number
  readonly validSeq: number
}

/**
 * A copy of one entry in this process, and the entry that its hits get. It holds no value that a caller has:
 * it keeps the bytes, and decodes them when it is used. A store without bytes shares its own value.
 */
export class LocalCopy extends LruNode implements Entry {
  // What a hit reads, first and together: it is in one line of the processor's cache.
  readonly codec: Codec
  /** Not served from here on: `maxAge` after the store was asked for it last. */
  until: number
  /** The tag sequence of this process when the copy's tags were last known to be valid. */
  validSeq: number
  #kept: Buffer | string | undefined
  readonly freshUntil: number
  readonly expired: boolean
  readonly from: Entry['from']
  promised: Promise<unknown> | undefined = undefined
  value: unknown
  readonly encoded: undefined = undefined
  readonly version: Version
  readonly committedAt: number
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly loadTime: number
  readonly tags: readonly string[]
  readonly tagSeq: number
  readonly size: number
  taken = false

  constructor(entry: Entry, { key, codec, from, until, validSeq }: CopyState) {
    super(key)
    const { encoded } = entry
    this.value = encoded === undefined ? entry.value : undefined
    this.#kept = encoded && keepable(encoded)
    this.version = entry.version
    this.committedAt = entry.committedAt
    this.freshUntil = entry.freshUntil
    this.expired = entry.expired
    this.staleWhileRevalidate = entry.staleWhileRevalidate
    this.staleIfError = entry.staleIfError
    this.loadTime = entry.loadTime
    this.tags = entry.tags
    this.tagSeq = entry.tagSeq
    this.size = entry.size
    this.from = from
    this.codec = codec
    this.until = until
    this.validSeq = validSeq
  }

  /** The bytes of its value, while it does not have the value itself. */
  get kept(): Buffer | string | undefined {
    return this.#kept
  }

  /** Gives the copy one value for all hits, in the place of the bytes. @throws what the codec throws. */
  decode(): void {
    if (this.#kept === undefined) return
    this.value = this.codec.decode(bytesOf(this.#kept))
    this.#kept = undefined
  }

  /** The entry with a value that no other caller has. @throws what the codec throws. */
  decoded(codec: Codec): Entry {
    if (this.#kept === undefined) return this
    const encoded = bytesOf(this.#kept)
    const { staleWhileRevalidate, staleIfError, tags } = this
    const content = { value: codec.decode(encoded), encoded, staleWhileRevalidate, staleIfError, tags }
    return makeEntry(content, this, this.from)
  }
}

function keepable(bytes: Buffer): Buffer | string {
  return bytes.length > LARGEST_TEXT ? bytesToKeep(bytes) : bytes.toString('latin1')
}

function bytesOf(kept: Buffer | string): Buffer {
  return typeof kept === 'string' ? Buffer.from(kept, 'latin1') : kept
}
