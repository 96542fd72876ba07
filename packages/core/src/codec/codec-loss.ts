import { types } from 'node:util'

/** Number of parts of a value that are checked: fewer than the encoding visits, and finite on cycles. */
const MOST_PARTS = 2_000
/** Number of levels that are checked: each takes stack, of which the caller may have left little. */
const MOST_LEVELS = 100

/** The values that a format keeps. */
interface Format {
  /** True for a value other than a plain object or an array that is decoded as it was encoded. */
  keeps(part: unknown): boolean
  /**
   * True when an `undefined` in an array stays one. A member that is undefined reads alike where it is
   * left out.
   */
  readonly undefinedInArrays: boolean
  /** True when a value that contains itself is decoded as one. */
  readonly cycles: boolean
}

const jsonFormat: Format = {
  keeps(part) {
    if (typeof part === 'number') return Number.isFinite(part) && !Object.is(part, -0)
    return part === null || part === undefined || typeof part === 'string' || typeof part === 'boolean'
  },
  undefinedInArrays: false,
  cycles: false,
}

const structuredFormat: Format = {
  keeps(part) {
    if (typeof part === 'object') return part === null || isCloneable(part)
    return typeof part !== 'function' && typeof part !== 'symbol'
  },
  undefinedInArrays: true,
  cycles: true,
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
  /** The objects and arrays around the part that is looked at. */
  readonly #around: object[] = []

  constructor(format: Format) {
    this.#format = format
  }

  /** The path from `part` to the first part that is not kept, and what that is. */
  lossIn(part: unknown): string | undefined {
    this.#left -= 1
    if (this.#left < 0 || this.#around.length > MOST_LEVELS) return undefined
    if (typeof part !== 'object' || part === null) return this.#format.keeps(part) ? undefined : ` (${nameOf(part)})`
    const isList = Array.isArray(part) && nameOf(part) === 'Array'
    const isObject = !isList && isData(part)
    return isList || isObject || this.#format.keeps(part) ? this.#lossInside(part, isObject) : ` (${nameOf(part)})`
  }

  #lossInside(part: object, isObject: boolean): string | undefined {
    if (this.#around.includes(part)) return this.#format.cycles ? undefined : ' (a cycle)'
    this.#around.push(part)
    const loss = this.#lossInParts(part, isObject) ?? lossOfSymbol(part)
    this.#around.pop()
    return loss
  }

  #lossInParts(part: object, isObject: boolean): string | undefined {
    if (Array.isArray(part)) return this.#lossInArray(part)
    if (isObject) return this.#lossInObject(part)
    const loss = types.isMap(part) || types.isSet(part) ? this.#lossInArray([...part].flat()) : undefined
    return loss ?? lossOfMember(part)
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

  #lossInObject(object: object): string | undefined {
    for (const name of Object.keys(object)) {
      const loss = this.lossIn((object as Readonly<Record<string, unknown>>)[name])
      if (loss !== undefined) return `.${name}${loss}`
    }
    return undefined
  }
}

/** The names under which the structured clone format decodes errors. */
const ERROR_NAMES = ['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']

/** Of no class of the application's: the format makes an object of the class that it extends. */
function isCloneable(part: object): boolean {
  const name = nameOf(part)
  if (types.isNativeError(part)) return ERROR_NAMES.includes(name) && ERROR_NAMES.includes(part.name)
  return isBuiltIn(part) && (name === tagOf(part) || Buffer.isBuffer(part))
}

/**
 * The structured clone format drops the members that an application gave to an error, a Map or another object
 * of the language.
 */
function lossOfMember(part: object): string | undefined {
  if (types.isArrayBufferView(part) || types.isStringObject(part)) return undefined
  const [member] = Object.keys(part)
  return member === undefined ? undefined : `.${member} (a member of a ${nameOf(part)})`
}

function tagOf(part: object): string {
  return Object.prototype.toString.call(part).slice('[object '.length, -1)
}

/** JSON and the structured clone format drop members whose names are symbols. */
function lossOfSymbol(part: object): string | undefined {
  const symbol = Object.getOwnPropertySymbols(part).find((name) =>
    Object.prototype.propertyIsEnumerable.call(part, name),
  )
  return symbol === undefined ? undefined : `[${String(symbol)}] (a symbol)`
}

function isBuiltIn(part: object): boolean {
  return (
    types.isMap(part) ||
    types.isSet(part) ||
    types.isDate(part) ||
    types.isRegExp(part) ||
    types.isAnyArrayBuffer(part) ||
    types.isArrayBufferView(part) ||
    types.isBoxedPrimitive(part)
  )
}

/**
 * True for a plain object of any realm, and for one of a class without methods: nobody misses what
 * it inherits.
 */
function isData(part: object): boolean {
  let prototype: unknown = Object.getPrototypeOf(part)
  while (typeof prototype === 'object' && prototype !== null) {
    const parent: unknown = Object.getPrototypeOf(prototype)
    if (parent === null) return true
    if (Reflect.ownKeys(prototype).some((name) => name !== 'constructor')) return false
    prototype = parent
  }
  return true
}

function nameOf(part: unknown): string {
  if (Object.is(part, -0)) return '-0'
  if (typeof part === 'number' || part === undefined) return String(part)
  if (typeof part !== 'object' || part === null) return typeof part
  const { constructor } = part as { readonly constructor?: { readonly name?: string } }
  return constructor?.name ?? 'object'
}
