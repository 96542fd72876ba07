import { checkOptions, type OptionRule, type OptionRules, rule } from '@cattlegrid/core/extend'
import type { AuditOptions, KeyOptions, QueryOptions, RouteOptions } from './options.ts'
import { PERSONAL_NAMES } from '../request/client-reads.ts'
import { tagsRule } from '../response/tags.ts'

const CACHE_NAME = /^[A-Za-z*][\w!#$%&'*+.^`|~:/-]*$/
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/

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
      if (!Array.isArray(value)) return undefined
      const list: readonly unknown[] = value
      return list.every((one) => typeof one === 'string' && fits(one))
        ? list.map((one) => normalise(String(one)))
        : undefined
    },
  }
}

/** The core checks its own options when a route is compiled. */
const checkedByCore: OptionRule<unknown> = { accepted: 'what a call of the cache takes', parse: (value) => value }

const keyRules = {
  headers: fieldNames,
  cookies: texts,
  host: rule.orFalse({
    accepted: 'a host, with the port where it is not the default',
    parse: (value) => (isHost(value) ? value.toLowerCase() : undefined),
  }),
  extra: rule.function<(request: never) => string>('a function (req) => string'),
} satisfies OptionRules<KeyOptions>

const queryRules = { ignore: texts } satisfies OptionRules<QueryOptions>

const auditRules = {
  rate: {
    accepted: 'a number from 0 to 1',
    parse: (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined),
  } satisfies OptionRule<number>,
  onMismatch: rule.oneOf('stop', 'warn'),
} satisfies OptionRules<AuditOptions>

const requestPredicate = rule.function<(request: never) => boolean>('a function (req) => boolean')
const anyFunction = rule.function('a function')

const routeRules = {
  enabled: rule.either(rule.boolean, requestPredicate),
  mode: rule.oneOf('serve', 'observe'),
  skip: requestPredicate,
  key: rule.nested(keyRules),
  query: {
    accepted: 'true, false, a list of names, or an object with ignore',
    parse: (value, path) =>
      typeof value === 'boolean'
        ? value
        : Array.isArray(value)
          ? texts.parse(value)
          : rule.nested(queryRules).parse(value, path),
  } satisfies OptionRule<unknown>,
  hosts: hostNames,
  cookies: rule.oneOf('ignore', 'bypass'),
  authorization: rule.oneOf('bypass', 'key'),
  unsafeShareAuthorized: rule.boolean,
  unsafeStripSetCookie: rule.boolean,
  unsafeVaryOn: fieldNames,
  ignoreVary: fieldNames,
  allowReads: readNames,
  scrub: rule.boolean,
  strip: fieldNames,
  ttl: rule.either(rule.ttl, {
    accepted: "'origin', or a function",
    parse: (value) => (value === 'origin' ? value : anyFunction.parse(value)),
  }),
  staleWhileRevalidate: rule.window,
  staleIfError: rule.window,
  softTimeout: checkedByCore,
  jitter: checkedByCore,
  loadTimeout: checkedByCore,
  waitTimeout: checkedByCore,
  onWaitTimeout: checkedByCore,
  earlyRefresh: checkedByCore,
  lease: checkedByCore,
  failureCooldown: checkedByCore,
  negativeTtl: rule.orFalse(rule.duration(0)),
  targets: fieldNames,
  tags: rule.either(tagsRule, rule.function('a function (req, res) => tags')),
  tagHeader: {
    accepted: 'the name of a header field, or false',
    parse: (value) =>
      value === false ? false : typeof value === 'string' && FIELD_NAME.test(value) ? value.toLowerCase() : undefined,
  } satisfies OptionRule<string | false>,
  maxBodyBytes: rule.byteSize(0),
  maxCaptureBytes: rule.byteSize(0),
  maxVariants: rule.count(1),
  maxLoads: rule.count(1),
  range: rule.boolean,
  revalidate: rule.boolean,
  clientDirectives: rule.orFalse(requestPredicate),
  clientMaxAge: rule.duration(0),
  downstream: rule.oneOf('age', 'reset'),
  refresh: rule.oneOf('behind', 'inline'),
  refreshHeaders: fieldNames,
  invalidateOnUnsafe: rule.boolean,
  cacheStatus: rule.either(
    {
      accepted: 'a token such as edge-1',
      parse: (value) => (typeof value === 'string' && CACHE_NAME.test(value) ? value : undefined),
    },
    rule.boolean,
  ),
  cacheStatusKey: rule.boolean,
  serverTiming: rule.boolean,
  xCache: rule.boolean,
  eventUrl: rule.boolean,
  audit: rule.orFalse(rule.nested(auditRules)),
  phase: rule.oneOf('preHandler', 'onRequest'),
  onError: rule.function<(...args: never[]) => boolean>('a function (error, req, res) => boolean'),
} satisfies OptionRules<RouteOptions>

/** The options that are parsed to a number: of ms, or of bytes. */
type NumberOption = 'staleWhileRevalidate' | 'staleIfError' | 'clientMaxAge' | 'maxBodyBytes' | 'maxCaptureBytes'

/**
 * The options of a route, parsed; undefined: not given. Durations in ms, field names in lower case;
 * functions unchanged.
 */
export type ParsedRoute = Omit<RouteOptions, NumberOption | 'ttl' | 'negativeTtl'> & {
  readonly [K in NumberOption]?: number | undefined
} & {
  readonly ttl?: number | 'origin' | ((...args: never[]) => unknown) | undefined
  readonly negativeTtl?: number | false | undefined
}

/** @throws InvalidOptionError for an unknown option or a value that is not accepted. */
export function parseRouteOptions(owner: string, options: unknown): ParsedRoute {
  return checkOptions(owner, options, routeRules) as ParsedRoute
}
