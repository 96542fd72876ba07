import { types } from 'node:util'

/** So many parts of a value are looked at: the check must cost less than the encoding, and end on cycles. */
const MOST_PARTS = 2_000

/** The values that a format keeps. */
interface Format {
  /** True for a value other than a plain object or an array that is decoded as it was encoded. */
  keeps(part: unknown): boolean
  /** True when an `undefined` in an array stays one. A member that is undefined reads alike where it is left out. */
  readonly undefinedInArrays: boolean
}

const jsonFormat: Format = {
  keeps(part) {
    if (typeof part === 'number') return Number.isFinite(part)
    return part === null || part === undefined || typeof part === 'string' || typeof part === 'boolean'
  },
  undefinedInArrays: false,
}

const structuredFormat: Format = {
  keeps(part) {
    if (typeof part === 'object') return part === null || isCloneable(part)
    return typeof part !== 'function' && typeof part !== 'symbol'
  },
  undefinedInArrays: true,
}

/** The first part of a value that JSON changes, such as `value.roles (Set)`. */
export function jsonLoss(value: unknown): string | undefined {
  return firstLoss(value, jsonFormat)
}

/** The first part of a value that the structured clone format changes. */
export function structuredLoss(value: unknown): string | undefined {
  return firstLoss(value, structuredFormat)
}

function firstLoss(value: unknown, format: Format): string | undefined {
  const loss = new Search(format).lossIn(value)
  return loss === undefined ? undefined : `value${loss}`
}

class Search {
  readonly #format: Format
  #left = MOST_PARTS

  constructor(format: Format) {
    this.#format = format
  }

  /** The path from `part` to the first part that is not kept, and what that is. */
  lossIn(part: unknown): string | undefined {
    this.#left -= 1
    if (this.#left < 0) return undefined
    if (Array.isArray(part)) return this.#lossInArray(part)
    if (isData(part)) return this.#lossInObject(part)
    if (!this.#format.keeps(part)) return ` (${nameOf(part)})`
    return types.isMap(part) || types.isSet(part) ? this.#lossInArray([...part].flat()) : undefined
  }

  #lossInArray(parts: readonly unknown[]): string | undefined {
    for (let index = 0; index < parts.length && this.#left > 0; index += 1) {
      const part = parts[index]
      const kept = part !== undefined || this.#format.undefinedInArrays
      const loss = kept ? this.lossIn(part) : ' (undefined)'
      if (loss !== undefined) return `[${index}]${loss}`
    }
    return undefined
  }

  #lossInObject(object: Readonly<Record<string, unknown>>): string | undefined {
    for (const name of Object.keys(object)) {
      const loss = this.lossIn(object[name])
      if (loss !== undefined) return `.${name}${loss}`
    }
    return undefined
  }
}

function isCloneable(part: object): boolean {
  return (
    types.isMap(part) ||
    types.isSet(part) ||
    types.isDate(part) ||
    types.isRegExp(part) ||
    types.isNativeError(part) ||
    types.isAnyArrayBuffer(part) ||
    types.isArrayBufferView(part) ||
    types.isBoxedPrimitive(part)
  )
}

/** True for a plain object of any realm, and for one of a class without methods: nobody misses what it inherits. */
function isData(part: unknown): part is Readonly<Record<string, unknown>> {
  if (typeof part !== 'object' || part === null) return false
  let prototype: unknown = Object.getPrototypeOf(part)
  while (typeof prototype === 'object' && prototype !== null) {
    const parent: unknown = Object.getPrototypeOf(prototype)
    if (parent === null) return true
    if (Reflect.ownKeys(prototype).length > 1) return false
    prototype = parent
  }
  return true
}

function nameOf(part: unknown): string {
  if (typeof part === 'number' || part === undefined) return String(part)
  return typeof part === 'object' && part !== null ? part.constructor.name : typeof part
}
