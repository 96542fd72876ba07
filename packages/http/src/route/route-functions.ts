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
  const { ttl, tags = [], enabled = true, skip, clientDirectives } = given
  const onError = given.onError as ((...args: unknown[]) => unknown) | undefined
  return {
    ttl: ttlOf(`${owner}.ttl`, ttl),
    tags: tagsOf(`${owner}.tags`, tags),
    enabled: typeof enabled === 'function' ? predicate(`${owner}.enabled`, enabled, BYPASS) : () => enabled,
    skip: skip === undefined ? () => false : predicate(`${owner}.skip`, skip, SKIP),
    extra: extraOf(`${owner}.key.extra`, extra),
    obeysClient:
      typeof clientDirectives === 'function'
        ? predicate(`${owner}.clientDirectives`, clientDirectives, DISOBEY)
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

/** The decision that a function takes by failing, and what comes of it. */
interface FailedDecision {
  readonly decision: boolean
  readonly consequence: string
}

const BYPASS: FailedDecision = { decision: false, consequence: 'its request bypasses the cache' }
const SKIP: FailedDecision = { ...BYPASS, decision: true }
const DISOBEY: FailedDecision = { decision: false, consequence: 'the Cache-Control of its request is not obeyed' }

function predicate(
  name: string,
  option: unknown,
  { decision, consequence }: FailedDecision,
): (request: unknown) => boolean {
  const answers = new FunctionAnswer<boolean>(name, option, {
    accepted: 'true or false',
    parse: Boolean,
    means: () => true,
    consequence,
  })
  return (request) => answers.to(request) ?? decision
}

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

function ttlOf<Req, Res>(name: string, ttl: unknown): (request: Req, response: Res) => number | undefined {
  if (ttl === undefined || ttl === 'origin') return () => undefined
  if (typeof ttl !== 'function') return () => ttl as number
  const answers = new FunctionAnswer(name, ttl, ttlAnswer)
  return (...args) => answers.to(...args) ?? Number.NaN
}

function tagsOf<Req, Res>(name: string, tags: unknown): (request: Req, response: Res) => unknown {
  if (typeof tags !== 'function') return () => tags
  const answers = new FunctionAnswer(name, tags, tagsAnswer)
  return (...args) => answers.to(...args)
}

function extraOf<Req>(name: string, extra: unknown): (request: Req) => string | null | undefined {
  if (extra === undefined) return () => undefined
  const answers = new FunctionAnswer(name, extra, extraAnswer)
  return (request) => answers.to(request) ?? null
}
