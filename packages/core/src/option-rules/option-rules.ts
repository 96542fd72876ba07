import { types } from 'node:util'
import { BYTE_SIZE_FORM, DURATION_FORM, parseByteSize, parseDuration } from './duration.ts'
import { LONGEST_TTL, LONGEST_WINDOW } from '../entry.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { checkOptions, type Parsed } from './check-options.ts'
import type { OptionRule, OptionRules } from './option-rule.ts'
import { isShortWindow, SHORT_TTL, warnOfShortTtl } from './short-ttl.ts'

/**
 * A length of time from `min` to `max` ms, as a number of ms or a text such as `'5s'`. Parsed to ms.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const every = rule.duration(100, 60_000)
 */
export function durationRule(min: number, max: number = 2 ** 47): OptionRule<number> {
  return {
    accepted: `${DURATION_FORM}; from ${min} to ${max} ms`,
    parse: (value) => within(parseDuration(value), min, max),
  }
}

const finiteTtlRule = durationRule(1, LONGEST_TTL)

/**
 * The rule of a `ttl` that a program computes. `Infinity` becomes the longest ttl, so that every moment of an
 * entry stays a finite number.
 */
export const computedTtlRule: OptionRule<number> = {
  accepted: `${finiteTtlRule.accepted}; or Infinity`,
  parse: (value) => (value === Infinity ? LONGEST_TTL : finiteTtlRule.parse(value)),
}

/** The rule of a `ttl` that a person writes. A small number warns once: it was likely meant in seconds. */
export const ttlRule: OptionRule<number> = {
  ...computedTtlRule,
  parse(value, path) {
    const milliseconds = computedTtlRule.parse(value)
    if (milliseconds !== undefined && milliseconds < SHORT_TTL) warnOfShortTtl(value, path?.())
    return milliseconds
  },
}

const finiteWindowRule = durationRule(0, LONGEST_WINDOW)

/** The rule of a stale window that a person writes. It warns as the rule of a `ttl` does. */
export const windowRule: OptionRule<number> = {
  ...finiteWindowRule,
  parse(value, path) {
    const milliseconds = finiteWindowRule.parse(value)
    if (milliseconds !== undefined && isShortWindow(milliseconds)) warnOfShortTtl(value, path?.())
    return milliseconds
  },
}

/**
 * An amount of memory from `min` to `max` bytes, as a number of bytes or a text such as `'4mb'`. Parsed
 * to bytes.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const limit = rule.byteSize(1)
 */
export function byteSizeRule(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionRule<number> {
  return {
    accepted: `${BYTE_SIZE_FORM}, at least ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${max}`}`,
    parse: (value) => within(parseByteSize(value), min, max),
  }
}

/**
 * A whole number from `min` to `max`.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const retries = rule.count(0, 10)
 */
export function countRule(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionRule<number> {
  return {
    accepted: `a whole number, at least ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${max}`}`,
    parse: (value) => (Number.isSafeInteger(value) ? within(Number(value), min, max) : undefined),
  }
}

/** A Map holds no more keys than this. */
export const MOST_MAP_KEYS: number = 2 ** 24 - 1

/** A number in [0, 1). */
export const fractionRule: OptionRule<number> = {
  accepted: 'a fraction from 0 up to, but not including, 1',
  parse: (value) => (typeof value === 'number' && value >= 0 && value < 1 ? value : undefined),
}

/** True or false. */
export const booleanRule: OptionRule<boolean> = {
  accepted: 'true or false',
  parse: (value) => (typeof value === 'boolean' ? value : undefined),
}

/**
 * A function that answers at once. An `async` one is refused: its promise would be taken for the answer.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const skip = rule.function<(key: string) => boolean>('a function (key) => boolean')
 */
export function functionRule<F extends (...args: never[]) => unknown>(accepted: string): OptionRule<F> {
  return {
    accepted,
    parse: (value) => (typeof value === 'function' && !types.isAsyncFunction(value) ? (value as F) : undefined),
  }
}

/**
 * One of these texts.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const level = rule.oneOf('debug', 'info')
 */
export function oneOfRule<const T extends readonly string[]>(...values: T): OptionRule<T[number]> {
  return {
    accepted: values.map((value) => `'${value}'`).join(' or '),
    parse: (value) => (values.includes(value as string) ? (value as T[number]) : undefined),
  }
}

/**
 * A text that matches `pattern`. `accepted` says so in words.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const name = rule.text('a text of 1 to 100 characters', /^.{1,100}$/s)
 */
export function textRule(accepted: string, pattern: RegExp): OptionRule<string> {
  return { accepted, parse: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined) }
}

/**
 * An object that has these methods. `accepted` says in words what it is.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const logger = rule.object<Console>('a logger', 'info', 'warn')
 */
export function objectRule<T extends object>(
  accepted: string,
  ...methods: readonly (keyof T & string)[]
): OptionRule<T> {
  const fits = (value: unknown): value is T =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  return { accepted, parse: (value) => (fits(value) ? value : undefined) }
}

/**
 * What `rule` or `other` accepts.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const sizes = rule.either(rule.boolean, rule.oneOf('small', 'large'))
 */
export function eitherRule<T, U>(rule: OptionRule<T>, other: OptionRule<U>): OptionRule<T | U> {
  return {
    accepted: `${rule.accepted}; or ${other.accepted}`,
    parse: (value, path) => rule.parse(value, path) ?? other.parse(value, path),
  }
}

/**
 * What `rule` accepts, or `false`: off.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const every = rule.orFalse(rule.duration(100))
 */
export function orFalse<T>(rule: OptionRule<T>): OptionRule<T | false> {
  return {
    accepted: `${rule.accepted}, or false`,
    parse: (value, path) => (value === false ? false : rule.parse(value, path)),
  }
}

export function orAuto<T>(rule: OptionRule<T>): OptionRule<T | 'auto'> {
  return {
    accepted: `${rule.accepted}, or 'auto'`,
    parse: (value, path) => (value === 'auto' ? 'auto' : rule.parse(value, path)),
  }
}

/**
 * An object with options. An error names the full path of one.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const retry = rule.nested({ times: rule.count(0), pause: rule.duration(0) })
 */
export function nestedRule<R extends OptionRules<object>>(rules: R): OptionRule<Parsed<R>> {
  return {
    accepted: `an object with ${Object.keys(rules).join(', ')}`,
    parse: (value, path) =>
      typeof value === 'object' && value !== null ? checkOptions(path?.() ?? 'options', value, rules) : undefined,
  }
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined
}

/** A source of time, timers and randomness. */
export const runtimeRule: OptionRule<Runtime> = objectRule<Runtime>(
  'a Runtime',
  'now',
  'coarseNow',
  'elapsed',
  'timeOfDay',
  'random',
  'token',
  'schedule',
)

/**
 * The most tags of an entry. A shared store keeps a key for each, and reads it with every entry that carries
 * the tag.
 */
const MAX_TAGS = 100
/** The longest tag, in characters. */
const MAX_TAG_LENGTH = 256

function isTag(tag: unknown): tag is string {
  return typeof tag === 'string' && tag.length >= 1 && tag.length <= MAX_TAG_LENGTH
}

/**
 * A list of tags for an entry, each once in the result. `reserved`: the number of tags that the caller adds.
 *
 * @example
 * import { rule } from '@cattlegrid/core/extend'
 *
 * const tags = rule.tags()
 */
export function tagsRuleWith(reserved: number = 0): OptionRule<readonly string[]> {
  const max = MAX_TAGS - reserved
  return {
    accepted: `a list of at most ${max} texts of 1 to ${MAX_TAG_LENGTH} characters`,
    parse(value) {
      if (!Array.isArray(value) || value.length > max) return undefined
      const tags: string[] = []
      for (const tag of value as readonly unknown[]) {
        if (!isTag(tag)) return undefined
        if (!tags.includes(tag)) tags.push(tag)
      }
      return tags
    },
  }
}

/** The rule of every option named `tags`. */
export const tagsRule: OptionRule<readonly string[]> = tagsRuleWith()
