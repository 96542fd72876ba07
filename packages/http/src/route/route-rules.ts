import { LONGEST_WINDOW } from '@cattlegrid/core'
import {
  answersAtOnce,
  booleanRule,
  byteSizeRule,
  checkOptions,
  countRule,
  durationRule,
  functionRule,
  INVALID,
  nestedRule,
  oneOfRule,
  type OptionRule,
  type OptionRules,
  orFalse,
  ttlOptionRule,
  windowRuleUpTo,
} from '@cattlegrid/core/internal'
import type { KeyOptions, QueryOptions, RouteOptions } from './options.ts'
import { PERSONAL_NAMES } from '../request/personal-reads.ts'
import { tagsRule } from '../response/tags.ts'

const CACHE_NAME = /^[A-Za-z*][\w!#$%&'*+.^`|~:/-]*$/
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/

const window = windowRuleUpTo(LONGEST_WINDOW)

/** Accepts a value that `fits` or `rule` accepts. */
function orElse(accepted: string, fits: (value: unknown) => boolean, rule: OptionRule<unknown>): OptionRule<unknown> {
  return {
    accepted: `${rule.accepted}; or ${accepted}`,
    parse: (value, path) => (fits(value) ? value : rule.parse(value, path)),
  }
}

const fieldNames = listRule(
  'a list of names of header fields',
  (name) => FIELD_NAME.test(name),
  (name) => name.toLowerCase(),
)
const texts = listRule(
  'a list of texts',
  (text) => text !== '',
  (text) => text,
)
const readNames = listRule(
  `a list with any of ${PERSONAL_NAMES.map((name) => `'${name}'`).join(', ')}`,
  (name) => PERSONAL_NAMES.includes(name),
  (name) => name,
)
const isHost = (host: unknown): host is string => typeof host === 'string' && /^[^/\s]+$/.test(host)

const hostNames = listRule('a list of hosts, with the port where it is not the default', isHost, (host) =>
  host.toLowerCase(),
)

function listRule(
  accepted: string,
  fits: (text: string) => boolean,
  normalise: (text: string) => string,
): OptionRule<readonly string[]> {
  return {
    accepted,
    parse(value) {
      if (!Array.isArray(value)) return INVALID
      const list: readonly unknown[] = value
      return list.every((one) => typeof one === 'string' && fits(one))
        ? list.map((one) => normalise(String(one)))
        : INVALID
    },
  }
}

/** The core checks its own options when a route is compiled. */
const checkedByCore: OptionRule<unknown> = { accepted: 'what a call of the cache takes', parse: (value) => value }

const keyRules = {
  headers: fieldNames,
  cookies: texts,
  host: orFalse({
    accepted: 'a host, with the port where it is not the default',
    parse: (value) => (isHost(value) ? value.toLowerCase() : INVALID),
  }),
  extra: functionRule<(request: never) => string>('a function (req) => string'),
} satisfies OptionRules<KeyOptions>

const queryRules = { ignore: texts } satisfies OptionRules<QueryOptions>

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'

const routeRules = {
  enabled: orElse('a function (req) => boolean', answersAtOnce, booleanRule),
  mode: oneOfRule('serve', 'observe'),
  skip: functionRule<(request: never) => boolean>('a function (req) => boolean'),
  key: nestedRule(keyRules),
  query: {
    accepted: 'true, false, a list of names, or an object with ignore',
    parse: (value, path) =>
      isBoolean(value) ? value : Array.isArray(value) ? texts.parse(value) : nestedRule(queryRules).parse(value, path),
  } satisfies OptionRule<unknown>,
  hosts: hostNames,
  cookies: oneOfRule('ignore', 'bypass'),
  authorization: oneOfRule('bypass', 'key'),
  unsafeShareAuthorized: booleanRule,
  unsafeStripSetCookie: booleanRule,
  unsafeVaryOn: fieldNames,
  ignoreVary: fieldNames,
  allowReads: readNames,
  scrub: booleanRule,
  strip: fieldNames,
  ttl: orElse("'origin', or a function", (value) => value === 'origin' || answersAtOnce(value), ttlOptionRule),
  staleWhileRevalidate: window,
  staleIfError: window,
  softTimeout: checkedByCore,
  jitter: checkedByCore,
  loadTimeout: checkedByCore,
  waitTimeout: checkedByCore,
  onWaitTimeout: checkedByCore,
  earlyRefresh: checkedByCore,
  lease: checkedByCore,
  failureCooldown: checkedByCore,
  negativeTtl: orFalse(durationRule(0)),
  targets: fieldNames,
  tags: orElse('a function (req, res) => tags', answersAtOnce, tagsRule),
  tagHeader: {
    accepted: 'the name of a header field, or false',
    parse: (value) =>
      value === false ? false : typeof value === 'string' && FIELD_NAME.test(value) ? value.toLowerCase() : INVALID,
  } satisfies OptionRule<string | false>,
  maxBodyBytes: byteSizeRule(0),
  maxCaptureBytes: byteSizeRule(0),
  maxVariants: countRule(1),
  maxLoads: countRule(1),
  range: booleanRule,
  revalidate: booleanRule,
  clientDirectives: orFalse(functionRule<(request: never) => boolean>('a function (req) => boolean')),
  clientMaxAge: durationRule(0),
  downstream: oneOfRule('age', 'reset'),
  refresh: oneOfRule('behind', 'inline'),
  refreshHeaders: fieldNames,
  invalidateOnUnsafe: booleanRule,
  cacheStatus: orElse('true or false', isBoolean, {
    accepted: 'a token such as edge-1',
    parse: (value) => (typeof value === 'string' && CACHE_NAME.test(value) ? value : INVALID),
  }),
  cacheStatusKey: booleanRule,
  serverTiming: booleanRule,
  xCache: booleanRule,
  eventUrl: booleanRule,
  phase: oneOfRule('preHandler', 'onRequest'),
  onError: functionRule<(...args: never[]) => boolean>('a function (error, req, res) => boolean'),
} satisfies OptionRules<RouteOptions>

/** The options of a route, parsed; undefined: not given. Durations in ms, field names in lower case; functions unchanged. */
export type ParsedRoute = { readonly [K in keyof Required<RouteOptions>]?: unknown } & {
  readonly mode?: 'serve' | 'observe' | undefined
  readonly key?: Pick<KeyOptions, 'headers' | 'cookies' | 'host'> | undefined
  readonly hosts?: readonly string[] | undefined
  readonly cookies?: 'ignore' | 'bypass' | undefined
  readonly authorization?: 'bypass' | 'key' | undefined
  readonly unsafeShareAuthorized?: boolean | undefined
  readonly unsafeStripSetCookie?: boolean | undefined
  readonly unsafeVaryOn?: readonly string[] | undefined
  readonly ignoreVary?: readonly string[] | undefined
  readonly allowReads?: readonly string[] | undefined
  readonly scrub?: boolean | undefined
  readonly strip?: readonly string[] | undefined
  readonly staleWhileRevalidate?: number | undefined
  readonly staleIfError?: number | undefined
  readonly negativeTtl?: number | false | undefined
  readonly targets?: readonly string[] | undefined
  readonly tagHeader?: string | false | undefined
  readonly maxBodyBytes?: number | undefined
  readonly maxCaptureBytes?: number | undefined
  readonly maxVariants?: number | undefined
  readonly maxLoads?: number | undefined
  readonly range?: boolean | undefined
  readonly revalidate?: boolean | undefined
  readonly clientMaxAge?: number | undefined
  readonly phase?: 'preHandler' | 'onRequest' | undefined
  readonly downstream?: 'age' | 'reset' | undefined
  readonly refresh?: 'behind' | 'inline' | undefined
  readonly refreshHeaders?: readonly string[] | undefined
  readonly invalidateOnUnsafe?: boolean | undefined
  readonly cacheStatusKey?: boolean | undefined
  readonly serverTiming?: boolean | undefined
  readonly xCache?: boolean | undefined
  readonly eventUrl?: boolean | undefined
}

/** @throws InvalidOptionError for an unknown option or a value that is not accepted. */
export function parseRouteOptions(owner: string, options: unknown): ParsedRoute {
  return checkOptions(owner, options, routeRules)
}
