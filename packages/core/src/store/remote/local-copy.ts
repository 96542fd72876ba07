import type { Codec } from '../../codec/codec.ts'
import { copyOf, deepFreeze, type Entry, makeEntry } from '../../entry.ts'
import { bytesToKeep } from '../../codec/own-bytes.ts'
import { LruNode } from '../hit-lru.ts'

/** A copy of one entry in this process. It holds no value that a caller has: it keeps the bytes, and decodes them when it is used. */
export class LocalCopy extends LruNode {
  readonly codec: Codec
  /** Not served from here on: `maxAge` after the store was asked for it last. */
  until: number
  /** The tag sequence of this process when the copy's tags were last known to be valid. */
  validSeq: number
  #entry: Entry

  constructor(key: string, entry: Entry, codec: Codec, until: number, validSeq: number) {
    super(key)
    this.#entry = entry
    this.codec = codec
    this.until = until
    this.validSeq = validSeq
  }

  /** The entry. While it has the bytes of its value, it has no value. */
  get entry(): Entry {
    return this.#entry
  }

  /** The entry with one value for all hits; the first one decodes it. @throws what the codec throws. */
  shared(freeze: boolean): Entry {
    return this.#entry.encoded === undefined ? this.#entry : this.#decodeForAll(freeze)
  }

  /** The entry with a value that no other caller has. @throws what the codec throws. */
  decoded(codec: Codec): Entry {
    const { encoded, from } = this.#entry
    if (encoded === undefined) return this.#entry
    return makeEntry({ ...this.#entry, value: codec.decode(encoded) }, this.#entry, from)
  }

  #decodeForAll(freeze: boolean): Entry {
    const entry = this.decoded(this.codec)
    if (freeze) deepFreeze(entry.value)
    this.#entry = makeEntry({ ...entry, encoded: undefined }, entry, entry.from)
    return this.#entry
  }
}

/** The entry as a copy keeps it. A store without bytes shares its own value. */
export function entryToKeep(entry: Entry, from: Entry['from'], freeze: boolean): Entry {
  const { encoded } = entry
  // Never the entry itself: if the entries that reads make were kept, V8 would start to allocate all of them in the old generation.
  if (encoded !== undefined)
    return makeEntry({ ...entry, value: undefined, encoded: bytesToKeep(encoded) }, entry, from)
  if (freeze) deepFreeze(entry.value)
  return copyOf(entry, from)
}
