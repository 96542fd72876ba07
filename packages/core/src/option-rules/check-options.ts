import { InvalidOptionError } from '../errors.ts'
import { nameHint, optionsHint, valueHint } from './likely-meant.ts'
import type { OptionRule, OptionRules } from './option-rule.ts'

/** Options after parsing; undefined where one was not given. */
export type Parsed<R> = { readonly [K in keyof R]: R[K] extends OptionRule<infer T> ? T | undefined : never }

/**
 * Checks an options object against its rules and returns the parsed values. `owner` stands before the name of
 * the option in an error.
 *
 * @example
 * import { checkOptions, rule } from '@cattlegrid/core/extend'
 *
 * const { every = 5000 } = checkOptions('poll', { every: '10s' }, { every: rule.duration(100, 60_000) })
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
  return value === undefined || rule === undefined ? undefined : checkValue(`${owner}.${name}`, value, rule)
}

/**
 * Checks one value against its rule and returns the parsed value.
 *
 * @example
 * import { checkValue, rule } from '@cattlegrid/core/extend'
 *
 * const milliseconds = checkValue('poll.every', '5s', rule.duration(100, 60_000))
 * @throws InvalidOptionError for a value that is not accepted.
 */
export function checkValue<T>(name: string, value: unknown, rule: OptionRule<T>): T {
  const parsed = rule.parse(value, () => name)
  if (parsed === undefined) throw new InvalidOptionError(name, value, rule.accepted, { hint: valueHint(value, rule) })
  return parsed
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

/** @throws InvalidOptionError for an argument that is no function. */
export function requireFunction(name: string, value: unknown, accepted: string): void {
  if (typeof value !== 'function') throw new InvalidOptionError(name, value, accepted)
}
