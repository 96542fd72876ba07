import { types } from 'node:util'
import { BYTE_SIZE_FORM, DURATION_FORM, parseByteSize, parseDuration } from './duration.ts'
import { LONGEST_TTL } from '../entry.ts'
import { InvalidOptionError } from '../errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { nameHint, optionsHint, valueHint } from './likely-meant.ts'
import { INVALID, type OptionRule, type OptionRules } from './option-rule.ts'
import { isShortWindow, SHORT_TTL, warnOfShortTtl } from './short-ttl.ts'

/** Options after parsing; undefined where one was not given. */
export type Parsed<R> = { readonly [K in keyof R]: R[K] extends OptionRule<infer T> ? T | undefined : never }

/**
 * Checks an options object against its rules and returns the parsed values.
 *
 * @param owner the name to put before the option in an error, such as `createCache`.
 * @throws InvalidOptionError for the first option that is unknown or has an invalid value.
 */
export function checkOptions<R extends OptionRules<object>>(owner: string, options: unknown, rules: R): Parsed<R> {
  const parsed: Record<string, unknown> = {}
  if (options === undefined) return parsed as Parsed<R>
  for (const name of optionNames(owner, options, rules)) {
    const value = parseOption(owner, options as object, name, rules)
    if (value !== undefined) parsed[name] = value
  }
  return parsed as Parsed<R>
}

/** The names in an options object. @throws InvalidOptionError for anything but a plain object. */
export function optionNames(owner: string, options: unknown, rules: OptionRules<object>): readonly string[] {
  if (isPlain(options)) return Object.keys(options)
  throw new InvalidOptionError(owner, options, `a plain object with options: ${Object.keys(rules).join(', ')}`, {
    hint: optionsHint(options, rules),
  })
}

/** One option's parsed value, or undefined where it was not given. @throws as `checkOptions`. */
export function parseOption(owner: string, options: object, name: string, rules: OptionRules<object>): unknown {
  const value = (options as Record<string, unknown>)[name]
  if (!Object.hasOwn(rules, name)) throw unknownOption(owner, name, value, Object.keys(rules))
  const rule = (rules as Record<string, OptionRule<unknown>>)[name]
  if (value === undefined || rule === undefined) return undefined
  const result = rule.parse(value, () => `${owner}.${name}`)
  if (result === INVALID) throw refusedBy(rule, `${owner}.${name}`, value)
  return result
}

/** The error for a value that a rule does not accept. */
export function refusedBy(rule: OptionRule<unknown>, name: string, value: unknown): InvalidOptionError {
  return new InvalidOptionError(name, value, rule.accepted, { hint: valueHint(value, rule) })
}

function unknownOption(owner: string, name: string, value: unknown, known: readonly string[]): InvalidOptionError {
  const problem = { is: 'is unknown', hint: nameHint(owner, name, known) }
  return new InvalidOptionError(`${owner}.${name}`, value, known.join(', '), problem)
}

/** Not an object of a class: the options that it inherits would be overlooked. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // Of any realm: the prototype of a plain object has none itself.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A length of time, in ms after parsing; from `min` to `max` ms. */
export function durationRule(min: number, max: number = 2 ** 47): OptionRule<number> {
  return {
    accepted: `${DURATION_FORM}; from ${min} to ${max} ms`,
    parse: (value) => within(parseDuration(value), min, max),
  }
}

const finiteTtlRule = durationRule(1, LONGEST_TTL)

/** The rule of a ttl that a program computes. `Infinity` becomes the longest ttl: every moment of an entry stays a number that one can calculate with. */
export const ttlRule: OptionRule<number> = {
  accepted: `${finiteTtlRule.accepted}; or Infinity`,
  parse: (value) => (value === Infinity ? LONGEST_TTL : finiteTtlRule.parse(value)),
}

/** The rule of every option named `ttl` that a person writes. */
export const ttlOptionRule: OptionRule<number> = {
  ...ttlRule,
  parse(value, path) {
    const milliseconds = ttlRule.parse(value)
    if (milliseconds !== INVALID && milliseconds < SHORT_TTL) warnOfShortTtl(value, path?.())
    return milliseconds
  },
}

/** The rule of a stale window that a person writes; from 0 to `max` ms. */
export function windowRuleUpTo(max: number): OptionRule<number> {
  const rule = durationRule(0, max)
  return {
    ...rule,
    parse(value, path) {
      const milliseconds = rule.parse(value)
      if (milliseconds !== INVALID && isShortWindow(milliseconds)) warnOfShortTtl(value, path?.())
      return milliseconds
    },
  }
}

/** An amount of memory, in bytes after parsing. */
export function byteSizeRule(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionRule<number> {
  return {
    accepted: `${BYTE_SIZE_FORM}, at least ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${max}`}`,
    parse: (value) => within(parseByteSize(value), min, max),
  }
}

export function countRule(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionRule<number> {
  return {
    accepted: `a whole number, at least ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${max}`}`,
    parse: (value) => (Number.isSafeInteger(value) ? within(Number(value), min, max) : INVALID),
  }
}

/** A Map holds no more keys than this. */
export const MOST_MAP_KEYS: number = 2 ** 24 - 1

/** A number in [0, 1). */
export const fractionRule: OptionRule<number> = {
  accepted: 'a fraction from 0 up to, but not including, 1',
  parse: (value) => (typeof value === 'number' && value >= 0 && value < 1 ? value : INVALID),
}

export const booleanRule: OptionRule<boolean> = {
  accepted: 'true or false',
  parse: (value) => (typeof value === 'boolean' ? value : INVALID),
}

/** A function that answers at once: a promise would be taken for its answer, and is true whatever it resolves to. */
export function functionRule<F extends (...args: never[]) => unknown>(accepted: string): OptionRule<F> {
  return { accepted, parse: (value) => (answersAtOnce(value) ? (value as F) : INVALID) }
}

/** False for what is certain to return a promise, and for what is no function. */
export function answersAtOnce(value: unknown): boolean {
  return typeof value === 'function' && !types.isAsyncFunction(value)
}

export function oneOfRule<const T extends readonly string[]>(...values: T): OptionRule<T[number]> {
  return {
    accepted: values.map((value) => `'${value}'`).join(' or '),
    parse: (value) => (values.includes(value as string) ? (value as T[number]) : INVALID),
  }
}

export function textRule(accepted: string, pattern: RegExp): OptionRule<string> {
  return { accepted, parse: (value) => (typeof value === 'string' && pattern.test(value) ? value : INVALID) }
}

/** An object that has these methods. */
export function objectRule<T extends object>(
  accepted: string,
  ...methods: readonly (keyof T & string)[]
): OptionRule<T> {
  const fits = (value: unknown): value is T =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
  return { accepted, parse: (value) => (fits(value) ? value : INVALID) }
}

/** As `rule`, or `false`: off. */
export function orFalse<T>(rule: OptionRule<T>): OptionRule<T | false> {
  return {
    accepted: `${rule.accepted}, or false`,
    parse: (value, path) => (value === false ? false : rule.parse(value, path)),
  }
}

/** Options inside an option; an error names the full path. */
export function nestedRule<R extends OptionRules<object>>(rules: R): OptionRule<Parsed<R>> {
  return {
    accepted: `an object with ${Object.keys(rules).join(', ')}`,
    parse: (value, path) =>
      typeof value === 'object' && value !== null ? checkOptions(path?.() ?? 'options', value, rules) : INVALID,
  }
}

function within(value: number, min: number, max: number): number | typeof INVALID {
  return value >= min && value <= max ? value : INVALID
}

/** The rule of every option named `runtime`. */
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

/** The most tags of an entry: each is a key of its own in a shared store, read with every entry that carries it. */
export const MAX_TAGS: number = 100
/** The longest tag, in characters. */
export const MAX_TAG_LENGTH: number = 256

function isTag(tag: unknown): tag is string {
  return typeof tag === 'string' && tag.length >= 1 && tag.length <= MAX_TAG_LENGTH
}

/** A rule for an option named `tags`, with at most `max` tags; a repeated tag counts once in the result. */
export function tagsRuleUpTo(max: number): OptionRule<readonly string[]> {
  return {
    accepted: `a list of at most ${max} texts of 1 to ${MAX_TAG_LENGTH} characters`,
    parse(value) {
      if (!Array.isArray(value) || value.length > max) return INVALID
      const tags: string[] = []
      for (const tag of value as readonly unknown[]) {
        if (!isTag(tag)) return INVALID
        if (!tags.includes(tag)) tags.push(tag)
      }
      return tags
    },
  }
}

/** The rule of every option named `tags`. */
export const tagsRule: OptionRule<readonly string[]> = tagsRuleUpTo(MAX_TAGS)

/** @throws InvalidOptionError for an argument that is no function. */
export function requireFunction(name: string, value: unknown, accepted: string): void {
  if (typeof value !== 'function') throw new InvalidOptionError(name, value, accepted)
}
