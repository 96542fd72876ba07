import { InvalidOptionError } from '@cattlegrid/core'
import { INVALID, ttlRule } from '@cattlegrid/core/internal'
import type { ServeError } from '../response/errors.ts'
import { tagsRule } from '../response/tags.ts'
import { type AnswerRule, FunctionAnswer, isPromise } from './function-answer.ts'
import type { KeyOptions } from './options.ts'
import type { ParsedRoute } from './route-rules.ts'

/**
 * The functions among a route's options. Each returns a default where the user's function throws. `enabled`, `skip` and `obeysClient` decide before
 * anything else happens: they throw InvalidOptionError where the user's function returns a promise, which is true whatever it resolves to. Of the others the first
 * answer that is not accepted is told, once.
 */
export interface RouteFunctions<Req, Res> {
  /** ms; undefined: the lifetime that the response declares; NaN: not stored. */
  ttl(request: Req, response: Res): number | undefined
  /** The option, or what its function returned; undefined: not stored. */
  tags(request: Req, response: Res): unknown
  enabled(request: Req): boolean
  skip(request: Req): boolean
  /** undefined: the key has no such part; null: the function failed, or returned no string, and the request has no key. */
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
  const { ttl, tags = [], enabled = true, skip, clientDirectives } = given
  const onError = given.onError as ((...args: unknown[]) => unknown) | undefined
  return {
    ttl: ttlOf(`${owner}.ttl`, ttl),
    tags: tagsOf(`${owner}.tags`, tags),
    enabled: typeof enabled === 'function' ? predicate(`${owner}.enabled`, enabled, false) : () => Boolean(enabled),
    skip: skip === undefined ? () => false : predicate(`${owner}.skip`, skip, true),
    extra: extraOf(`${owner}.key.extra`, extra),
    obeysClient:
      typeof clientDirectives === 'function'
        ? predicate(`${owner}.clientDirectives`, clientDirectives, false)
        : () => false,
    handlesError: (...args) => onError !== undefined && callOr<unknown>(onError, false, ...args) === true,
  }
}

function callOr<T>(option: unknown, failed: T, ...args: readonly unknown[]): T {
  try {
    return (option as (...args: readonly unknown[]) => T)(...args)
  } catch {
    return failed
  }
}

/** The function of an option as a predicate, which throws InvalidOptionError where the function returns a promise. */
function predicate(name: string, option: unknown, failed: boolean): (request: unknown) => boolean {
  return (request) => {
    const decision = callOr<unknown>(option, failed, request)
    if (!isPromise(decision)) return Boolean(decision)
    // Its rejection must not end the process.
    Promise.resolve(decision).catch(() => undefined)
    throw new InvalidOptionError(name, decision, DECIDES_NOW, 'returned a promise')
  }
}

const DECIDES_NOW =
  'a function that returns its decision now; await in a middleware or hook before the cache, keep the result on the request, and return that'

const ttlAnswer: AnswerRule<number> = {
  accepted: `${ttlRule.accepted}; undefined or 0, not to store the response`,
  parse: (value) => ttlRule.parse(value),
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
  parse: (value) => (typeof value === 'string' ? value : INVALID),
  means: (answer) => answer === undefined || answer === null,
  consequence: 'its request bypasses the cache',
}

function ttlOf<Req, Res>(name: string, ttl: unknown): (request: Req, response: Res) => number | undefined {
  if (ttl === undefined || ttl === 'origin') return () => undefined
  if (typeof ttl !== 'function') return () => ttl as number
  const answers = new FunctionAnswer(name, ttlAnswer)
  return (...args) => {
    const parsed = answers.check(callOr<unknown>(ttl, Number.NaN, ...args))
    return parsed === INVALID ? Number.NaN : parsed
  }
}

function tagsOf<Req, Res>(name: string, tags: unknown): (request: Req, response: Res) => unknown {
  if (typeof tags !== 'function') return () => tags
  const answers = new FunctionAnswer(name, tagsAnswer)
  return (...args) => {
    const parsed = answers.check(callOr<unknown>(tags, undefined, ...args))
    return parsed === INVALID ? undefined : parsed
  }
}

function extraOf<Req>(name: string, extra: unknown): (request: Req) => string | null | undefined {
  if (extra === undefined) return () => undefined
  const answers = new FunctionAnswer(name, extraAnswer)
  return (request) => {
    const parsed = answers.check(callOr<unknown>(extra, null, request))
    return parsed === INVALID ? null : parsed
  }
}
