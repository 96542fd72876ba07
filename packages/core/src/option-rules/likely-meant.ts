import { closest, distance } from 'fastest-levenshtein'
import { inspect, types } from 'node:util'
import { concealed } from '../concealed.ts'
import type { OptionRule, OptionRules } from './option-rule.ts'
import { SHORT_TTL } from './short-ttl.ts'

/**
 * Names in other libraries and in HTTP, without `_` and in lower case, each with the options here that may
 * be meant.
 */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  swr: ['staleWhileRevalidate'],
  stale: ['staleWhileRevalidate'],
  stalettl: ['staleWhileRevalidate'],
  grace: ['staleIfError'],
  graceperiod: ['staleIfError'],
  sie: ['staleIfError'],
  ex: ['ttl'],
  expire: ['ttl'],
  expires: ['ttl'],
  expiresin: ['ttl'],
  expiry: ['ttl'],
  expiration: ['ttl'],
  lifetime: ['ttl'],
  maxage: ['ttl'],
  smaxage: ['ttl'],
  stdttl: ['ttl'],
  ttlms: ['ttl'],
  ttlseconds: ['ttl'],
  timeout: ['loadTimeout', 'timeout'],
  locktimeout: ['waitTimeout'],
  concurrency: ['maxLoads'],
  serializer: ['codec'],
  serialize: ['codec'],
  prefix: ['namespace'],
  keyprefix: ['namespace'],
  host: ['url'],
  port: ['url'],
  password: ['url'],
  redis: ['client'],
  connection: ['client'],
  error: ['load-failed'],
  max: ['maxEntries'],
  maxitems: ['maxEntries'],
  maxkeys: ['maxEntries'],
  maxsize: ['maxEntries'],
  headers: ['key'],
  vary: ['key'],
  varyby: ['key'],
  keyby: ['key'],
  bypass: ['skip'],
  condition: ['skip'],
  surrogatekeys: ['tags'],
}

/** Options that are often given to a function that does not take them, each with the function that does. */
const TAKEN_BY: Readonly<Record<string, string>> = {
  maxentries: 'memoryStore({ maxEntries })',
  maxbytes: 'memoryStore({ maxBytes })',
  max: 'memoryStore({ maxEntries })',
  maxsize: 'memoryStore({ maxEntries })',
  maxitems: 'memoryStore({ maxEntries })',
  maxkeys: 'memoryStore({ maxEntries })',
  url: 'redisStore({ url })',
  host: 'redisStore({ url })',
  port: 'redisStore({ url })',
  client: 'redisStore({ client })',
  redis: 'redisStore({ client })',
  namespace: 'redisStore({ namespace })',
  prefix: 'redisStore({ namespace })',
  keyprefix: 'redisStore({ namespace })',
  store: 'createCache({ store })',
  ttl: 'createCache({ ttl })',
  codec: 'createCache({ codec })',
  near: 'createCache({ near })',
  name: 'createCache({ name })',
  stalewhilerevalidate: 'createCache({ staleWhileRevalidate })',
  key: 'a cached route: { key }',
  cachestatus: 'a cached route: { cacheStatus }',
  invalidateonunsafe: 'a cached route: { invalidateOnUnsafe }',
  history: 'explain(cache, { history })',
  hotkeys: 'explain(cache, { hotKeys })',
}

const OF_CACHE_AND_ROUTE = ['ttl', 'stalewhilerevalidate']
const OF_HOST = ['host', 'port']

const sameLetters = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

/**
 * The hint at what an unknown name may mean, such as ` (did you mean 'ttl'?)`; empty if nothing is near.
 * `owner`: what got the option.
 */
export function nameHint(owner: string, name: string, known: readonly string[]): string {
  const plain = name.toLowerCase().replaceAll('_', '')
  const candidates = Object.hasOwn(OTHER_NAMES, plain) ? (OTHER_NAMES[plain] ?? []) : []
  const meant =
    known.find((one) => sameLetters(one) === sameLetters(name)) ?? candidates.find((one) => known.includes(one))
  if (meant !== undefined) return didYouMean(`'${meant}'`)
  const takenBy = Object.hasOwn(TAKEN_BY, plain) ? TAKEN_BY[plain] : undefined
  if (known.includes('defaults') && OF_CACHE_AND_ROUTE.includes(plain)) return didYouMean(`defaults: { ${name} }`)
  if (known.includes('hosts') && OF_HOST.includes(plain)) return didYouMean('key: { host }')
  if (takenBy !== undefined && !takenBy.startsWith(owner)) return ` (it belongs to ${takenBy})`
  const nearest = closest(name, known)
  // Of a name of three letters, one may be wrong: 'url' is no 'ttl'.
  const most = Math.max(1, Math.min(name.length - 2, Math.max(2, name.length / 3)))
  return distance(name, nearest) <= most ? didYouMean(`'${nearest}'`) : ''
}

/**
 * The hint at the value that a refused one may mean, such as ` (did you mean '30s'?)`; empty if `rule`
 * accepts nothing near.
 */
export function valueHint(value: unknown, rule: OptionRule<unknown>): string {
  if (typeof value === 'function' && FACTORIES.includes(value.name)) return didYouMean(`${value.name}()`)
  if (types.isAsyncFunction(value)) return ' (it must answer at once: await what it needs before)'
  const member = memberMeant(value, rule)
  if (member !== undefined) return ` (its member '${member}' alone is meant)`
  const meant = nearValues(value).find((near) => accepts(rule, near))
  return meant === undefined ? '' : didYouMean(shown(meant))
}

/** The options that often stand alone where an object with them is taken. */
const ALONE = ['cache', 'store', 'client', 'url', 'ttl', 'maxEntries']

/** The hint at the object of options that a value may mean, such as ` (did you mean { ttl: '30s' }?)`. */
export function optionsHint(value: unknown, rules: OptionRules<object>): string {
  if (typeof value === 'function') return functionHint(rules)
  for (const name of ALONE) {
    const rule = (rules as Readonly<Record<string, OptionRule<unknown>>>)[name]
    if (rule === undefined || !accepts(rule, value)) continue
    // As a number it would be in ms, and is more likely meant in seconds.
    const meant = name === 'ttl' && typeof value === 'number' && value < SHORT_TTL ? `${value}s` : value
    return didYouMean(typeof value === 'object' ? `{ ${name} }` : `{ ${name}: ${shown(meant)} }`)
  }
  return ''
}

/**
 * The hint at where a function belongs. The options of a call that loads have a signal, and those of a call
 * that only reads have `stale`.
 */
function functionHint(rules: OptionRules<object>): string {
  if ('stale' in rules) return ' (getOrSet(key, loader) loads)'
  return 'signal' in rules && !('key' in rules) ? ' (the function comes before the options)' : ''
}

/** Functions that are given in the place of what they make. */
const FACTORIES = ['createCache', 'memoryStore', 'redisStore']

const UNITS: readonly (readonly [name: RegExp, unit: string])[] = [
  [/^(?:ms|millis|milliseconds?)$/, 'ms'],
  [/^(?:|s|secs?|seconds?)$/, 's'],
  [/^(?:m|mins?|minutes?)$/, 'm'],
  [/^(?:h|hrs?|hours?)$/, 'h'],
  [/^(?:d|days?)$/, 'd'],
]

/** The member of an object of options that is meant instead of the object. */
function memberMeant(value: unknown, rule: OptionRule<unknown>): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const members = value as Readonly<Record<string, unknown>>
  return ALONE.find((name) => members[name] !== undefined && accepts(rule, members[name]))
}

function nearValues(value: unknown): readonly unknown[] {
  if (typeof value !== 'string' || value.trim() === '') return []
  const text = value.toLowerCase().replaceAll(/\s/g, '')
  const [, number = '', name = ''] = /^(\d+(?:\.\d+)?)([a-z]*)$/.exec(text) ?? []
  const unit = UNITS.find(([pattern]) => pattern.test(name))?.[1]
  const duration = number === '' || unit === undefined ? [] : [number + unit]
  const boolean = text === 'true' || text === 'false' ? [text === 'true'] : []
  const count = Number.isFinite(Number(text)) ? [Number(text)] : []
  return [...duration, ...boolean, ...count, text, `redis://${value}`, [value]].filter((near) => near !== value)
}

function accepts(rule: OptionRule<unknown>, value: unknown): boolean {
  try {
    return rule.parse(value) !== undefined
  } catch {
    return false
  }
}

function shown(value: unknown): string {
  return inspect(concealed(value), { depth: 1, breakLength: Infinity, maxStringLength: 80 })
}

function didYouMean(what: string): string {
  return ` (did you mean ${what}?)`
}
