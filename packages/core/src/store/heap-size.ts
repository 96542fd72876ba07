import { types } from 'node:util'

/** At most so many objects of one value are measured. */
const MOST_OBJECTS = 1024
/** A list is measured whole only if each of its members may have so many objects in it. */
const OBJECTS_PER_MEMBER = 16
/**
 * The size of an object that is not measured: a function, a proxy that throws, or one beyond `MOST_OBJECTS`.
 */
const UNMEASURED = 256

/** V8 keeps a text with no such character in one byte each. */
const WIDE_CHARACTER = /[^\0-\xff]/
const WORD = 8
/**
 * A kept entry with the record of its key, its places in a Map and in the order of use, and the promise of
 * its hits.
 */
const ENTRY = 448
/** A tag of an entry, and the number of the tag. */
const TAG = 200
/** An object without its properties. */
const HEADER = 3 * WORD
/** The slots of an object that was made empty. */
const UNUSED_SLOTS = 4
/** An array without its elements. */
const ARRAY = 6 * WORD
/** A number that is no 32-bit integer, or a bigint without its digits. */
const HEAP_NUMBER = 16
/** An object with fields of its own that V8 does not show: a Date, a RegExp, a Promise. */
const OPAQUE = 112
/** A view without its ArrayBuffer. */
const VIEW = 200
/** The captured frames of an error. */
const STACK = 512
/** An object with more keys is a hash table. */
const MOST_SLOTS = 128
/** A place in that table, with the free places beside it. */
const HASHED_SLOT = 9 * WORD
/** A key in the hidden class that objects with the same keys share, and that class without its keys. */
const DESCRIPTOR = 3 * WORD
const HIDDEN_CLASS = 10 * WORD
/** A Map or Set without its table. */
const TABLE = 9 * WORD
/** Its multiples modulo 1 are spread evenly, and never repeat. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2

/**
 * The bytes that `value` holds in memory, estimated for 64-bit V8 without calling code of the value. What it
 * contains twice counts once; a view counts its whole ArrayBuffer. At most 1,024 of its objects are measured:
 * of a larger value, a sample of each list. V8 does not show everything: private fields, closures, spare
 * places of an array, and the text that a string is a slice of are not counted.
 */
export function heapSizeOf(value: unknown): number {
  try {
    return new HeapEstimate().sizeOf(value, MOST_OBJECTS)
  } catch {
    return UNMEASURED
  }
}

/** The bytes of a kept entry in memory, without its value. */
export function entryOverhead(key: string, tags: readonly string[]): number {
  let size = ENTRY + 2 * key.length
  for (const tag of tags) size += TAG + 2 * tag.length
  return size
}

/** The bytes of a text in memory. */
function textSize(text: string): number {
  const bytes = WIDE_CHARACTER.test(text) ? 2 * text.length : text.length
  return (2 + Math.ceil(bytes / WORD)) * WORD
}

class HeapEstimate {
  /** The objects measured so far, and the keys of objects. */
  readonly #seen = new Set<unknown>()
  #measured = 0

  /** `share`: so many objects of the value may be measured. */
  sizeOf(value: unknown, share: number): number {
    switch (typeof value) {
      case 'string':
        return textSize(value)
      case 'number':
        return value === (value | 0) ? 0 : HEAP_NUMBER
      case 'bigint':
        return HEAP_NUMBER + value.toString(16).length
      case 'object':
        return value === null || this.#wasSeen(value) ? 0 : this.#sizeOfObject(value, share)
      case 'function':
        return this.#wasSeen(value) ? 0 : UNMEASURED
      case 'symbol':
      case 'boolean':
      case 'undefined':
        return 0
    }
  }

  #sizeOfObject(value: object, share: number): number {
    if (share < 1) return UNMEASURED
    this.#measured += 1
    const rest = share - 1
    if (Array.isArray(value)) return this.#sizeOfArray(value, rest)
    if (ArrayBuffer.isView(value)) return VIEW + this.sizeOf(value.buffer, 1)
    if (types.isAnyArrayBuffer(value)) return value.byteLength
    if (types.isMap(value)) return tableSize(value.size, 3) + this.#sizeOfMap(value, rest / 2)
    if (types.isSet(value)) return tableSize(value.size, 2) + this.#sizeOfFirst(value, value.size, rest)
    if (types.isDate(value) || types.isRegExp(value) || types.isPromise(value)) return OPAQUE
    return (types.isNativeError(value) ? STACK : HEADER) + this.#sizeOfProperties(value, rest)
  }

  #sizeOfArray(array: readonly unknown[], share: number): number {
    const sample = spread(array, sampleSize(array.length, share))
    // V8 keeps an array of numbers only without an object for each.
    const isOfNumbers = sample.every((element) => typeof element === 'number')
    return ARRAY + WORD * array.length + (isOfNumbers ? 0 : this.#sizeOfMembers(sample, array.length, share))
  }

  #sizeOfMap(map: ReadonlyMap<unknown, unknown>, share: number): number {
    return this.#sizeOfFirst(map.keys(), map.size, share) + this.#sizeOfFirst(map.values(), map.size, share)
  }

  #sizeOfFirst(members: Iterable<unknown>, count: number, share: number): number {
    return this.#sizeOfMembers(first(members, sampleSize(count, share)), count, share)
  }

  #sizeOfProperties(object: object, share: number): number {
    const keys = Object.keys(object)
    const count = keys.length
    const hashed = count > MOST_SLOTS
    const sample = hashed ? spread(keys, sampleSize(count, share)) : keys
    // Not by a read, which would call a getter.
    const values = sample.map((key): unknown => Object.getOwnPropertyDescriptor(object, key)?.value)
    const sizeOfValues = this.#sizeOfMembers(values, count, share)
    if (hashed) return sizeOfValues + HASHED_SLOT * count + this.#sizeOfMembers(sample, count, 0)
    return sizeOfValues + WORD * (count === 0 ? UNUSED_SLOTS : count) + this.#sizeOfNewKeys(keys)
  }

  /** The keys of objects alike are in memory once. */
  #sizeOfNewKeys(keys: readonly string[]): number {
    let size = 0
    for (const key of keys) if (!this.#wasSeen(key)) size += DESCRIPTOR + textSize(key)
    return size === 0 ? 0 : HIDDEN_CLASS + size
  }

  /** The size of `count` members, by a sample of them. */
  #sizeOfMembers(sample: readonly unknown[], count: number, share: number): number {
    const end = this.#measured + share
    let size = 0
    let left = sample.length
    for (const member of sample) {
      size += this.sizeOf(member, (end - this.#measured) / left)
      left -= 1
    }
    return sample.length === 0 ? 0 : (size * count) / sample.length
  }

  #wasSeen(part: unknown): boolean {
    if (this.#seen.has(part)) return true
    this.#seen.add(part)
    return false
  }
}

/**
 * The size of a Map or Set without what it contains. Its table doubles when it is full; each place has so
 * many words, and half a word in the index.
 */
function tableSize(size: number, words: number): number {
  const places = 2 ** Math.ceil(Math.log2(Math.max(4, size)))
  return TABLE + places * (words + 0.5) * WORD
}

/** So many members of a list are measured. */
function sampleSize(count: number, share: number): number {
  return count * OBJECTS_PER_MEMBER <= share ? count : Math.min(count, Math.ceil(Math.sqrt(share + 1)))
}

/**
 * Members from all over a list, one from each stretch; not at equal distances, since lists repeat themselves.
 */
function spread<T>(list: readonly T[], most: number): readonly T[] {
  if (most >= list.length) return list
  const stretch = list.length / most
  return Array.from({ length: most }, (_, index) => {
    const offset = Math.floor(((index * GOLDEN_RATIO) % 1) * Math.floor(stretch))
    return list[Math.floor(index * stretch) + offset] as T
  })
}

function first(members: Iterable<unknown>, most: number): readonly unknown[] {
  const found: unknown[] = []
  for (const member of members) {
    if (found.length >= most) break
    found.push(member)
  }
  return found
}
