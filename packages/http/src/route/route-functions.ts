import { rule } from '@cattlegrid/core/extend'
import type { ServeError } from '../response/errors.ts'
import { tagsRule } from '../response/tags.ts'
import { type AnswerRule, FunctionAnswer } from './function-answer.ts'
import type { KeyOptions } from './options.ts'
import type { ParsedRoute } from './route-rules.ts'

/**
 * The functions among a route's options. None of them throws: where the user's function throws, or returns
 * what is not accepted, each takes the answer that caches nothing, and tells it once.
 */
export interface RouteFunctions<Req, Res> {
  /** ms; undefined: the lifetime that the response declares; NaN: not stored. */
  ttl(request: Req, response: Res): number | undefined
  /** The option, or what its function returned; undefined: not stored. */
  tags(request: Req, response: Res): unknown
  enabled(request: Req): boolean
  skip(request: Req): boolean
  /**
   * undefined: the key has no such part; null: the function failed, or returned no string, and the request
   * has no key.
   */
  extra(request: Req): string | null | undefined
  obeysClient(request: Req): boolean
  /** True if `onError` sends the response. */
  handlesError(error: ServeError, request: Req, response: Res): boolean
}

/** `owner`: the function that got the options, for error messages. */
export function routeFunctionsOf<Req, Res>(
  owner: string,
  given: ParsedRoute,
  { extra }: KeyOptions<Req>,
): RouteFunctions<Req, Res> {
  const { ttl, tags = [], enabled = true, skip = false, clientDirectives = false } = given
  const bypass = decision('its request bypasses the cache')
  return {
    ttl: asked<number | undefined>(`${owner}.ttl`, ttl === 'origin' ? undefined : ttl, ttlAnswer, Number.NaN),
    tags: asked<unknown>(`${owner}.tags`, tags, tagsAnswer, undefined),
    enabled: asked(`${owner}.enabled`, enabled, bypass, false),
    skip: asked(`${owner}.skip`, skip, bypass, true),
    extra: asked<string | null | undefined>(`${owner}.key.extra`, extra, extraAnswer, null),
    obeysClient: asked(`${owner}.clientDirectives`, clientDirectives, disobedience, false),
    handlesError: (...args) => handles(given.onError, args),
  }
}

/** Returns what gives the option, or where that is a function, its answer; `failed` where it is none. */
function asked<T>(
  name: string,
  option: unknown,
  rule: AnswerRule<NonNullable<T>>,
  failed: T,
): (...args: readonly unknown[]) => T {
  if (typeof option !== 'function') return () => option as T
  const answers = new FunctionAnswer(name, option, rule)
  return (...args) => answers.to(...args) ?? failed
}

function handles(onError: ParsedRoute['onError'], args: Parameters<NonNullable<ParsedRoute['onError']>>): boolean {
  try {
    return onError?.(...args) === true
  } catch {
    return false
  }
}

function decision(consequence: string): AnswerRule<boolean> {
  return { accepted: 'true or false', parse: Boolean, means: () => true, consequence }
}

const disobedience = decision('the Cache-Control of its request is not obeyed')

const ttlAnswer: AnswerRule<number> = {
  accepted: `${rule.computedTtl.accepted}; undefined or 0, not to store the response`,
  parse: (value) => rule.computedTtl.parse(value),
  means: (answer) => answer === undefined || typeof answer === 'number',
  consequence: 'no response is stored',
}

const tagsAnswer: AnswerRule<readonly string[]> = {
  ...tagsRule,
  means: () => false,
  consequence: 'no response is stored',
}

const extraAnswer: AnswerRule<string> = {
  accepted: 'a text; undefined or null, to bypass the cache',
  parse: (value) => (typeof value === 'string' ? value : undefined),
  means: (answer) => answer === undefined || answer === null,
  consequence: 'its request bypasses the cache',
}
