import { codecRule } from '../codec.ts'
import { LONGEST_WINDOW, MAX_ENTRY_BYTES } from '../entry.ts'
import { InvalidOptionError } from '../errors.ts'
import type { KeepOptions, CallerSignal } from '../load.ts'
import {
  booleanRule,
  byteSizeRule,
  checkOptions,
  countRule,
  durationRule,
  fractionRule,
  functionRule,
  INVALID,
  nestedRule,
  objectRule,
  oneOfRule,
  type OptionRule,
  type OptionRules,
  orFalse,
  type Parsed,
  runtimeRule,
  tagsRule,
} from '../option-rules.ts'
import type {
  CacheOptions,
  CallOptions,
  EarlyRefreshOptions,
  FailureCooldownOptions,
  LeaseOptions,
  LoadOptions,
  SetOptions,
  WrapOptions,
} from './options.ts'
import type { CooldownLimits, EarlyRefresh } from '../policy/policy.ts'
import { remoteLimits, remoteRules } from './remote-options.ts'
import type { RemoteLimits } from '../store/remote/remote-limits.ts'
import { type Runtime, systemRuntime } from '../runtime.ts'
import { type AdmissionLimits, DEFAULTS, draftOf, requireTtl, type Settings, type SettingsDraft } from './settings.ts'
import type { Store } from '../store/store.ts'

const storeRule = objectRule<Store>(
  'a store, such as memoryStore() or redisStore({ client })',
  ...(['peek', 'read', 'acquire', 'renew', 'commit', 'release', 'put', 'invalidate', 'invalidateTags'] as const),
  ...(['tagNumbers', 'clear', 'inspect', 'ping', 'watch', 'close'] as const),
)
const signalRule = objectRule<CallerSignal>(
  'an AbortSignal',
  'addEventListener',
  'removeEventListener',
  'throwIfAborted',
)
const ttlRule = durationRule(1)
const windowRule = durationRule(0, LONGEST_WINDOW)
const positiveRule: OptionRule<number> = {
  accepted: 'a number above 0',
  parse: (value) => (typeof value === 'number' && value > 0 && value !== Infinity ? value : INVALID),
}

const leaseRules = { duration: durationRule(10), maxHold: durationRule(10) } satisfies OptionRules<LeaseOptions>
const cooldownRules = { min: durationRule(1), max: durationRule(1) } satisfies OptionRules<FailureCooldownOptions>

const earlyRules = { beta: positiveRule, before: durationRule(1) } satisfies OptionRules<EarlyRefreshOptions>

const loadRules = {
  ttl: ttlRule,
  softTimeout: orFalse(durationRule(0)),
  jitter: fractionRule,
  loadTimeout: durationRule(1),
  waitTimeout: durationRule(0),
  lease: nestedRule(leaseRules),
  failureCooldown: nestedRule(cooldownRules),
  isFailure: functionRule<(error: unknown) => boolean>('a function (error) => boolean'),
  onWaitTimeout: oneOfRule('error', 'load'),
  earlyRefresh: orFalse(nestedRule(earlyRules)),
} satisfies OptionRules<LoadOptions>

const cacheRules = {
  ...loadRules,
  store: storeRule,
  codec: codecRule,
  staleWhileRevalidate: windowRule,
  staleIfError: windowRule,
  maxEntryBytes: byteSizeRule(1, MAX_ENTRY_BYTES),
  freeze: booleanRule,
  shareErrorMessages: booleanRule,
  ...remoteRules,
  maxLoads: countRule(1),
  maxWaiters: countRule(1),
  maxWaitersPerKey: countRule(1),
  runtime: runtimeRule,
} satisfies OptionRules<CacheOptions>

const callRules = {
  ...loadRules,
  codec: codecRule,
  staleWhileRevalidate: orFalse(windowRule),
  staleIfError: orFalse(windowRule),
  tags: tagsRule,
  maxAge: durationRule(0),
  near: booleanRule,
  signal: signalRule,
} satisfies OptionRules<CallOptions>

const wrapRules = {
  ...callRules,
  key: functionRule<(...args: never[]) => string>('a function (...args) => string'),
} satisfies OptionRules<WrapOptions<(...args: never[]) => unknown>>

const cacheRule: OptionRule<object> = {
  accepted: 'a cache, or a function (self) => cache',
  parse: (value) => (typeof value === 'function' ? value : objectRule<{ wrap(): unknown }>('', 'wrap').parse(value)),
}

const setRules = {
  ttl: ttlRule,
  staleWhileRevalidate: windowRule,
  staleIfError: windowRule,
  jitter: fractionRule,
  tags: tagsRule,
  codec: codecRule,
} satisfies OptionRules<SetOptions>
const keepRules = {
  ttl: ttlRule,
  staleWhileRevalidate: windowRule,
  staleIfError: windowRule,
  tags: tagsRule,
} satisfies OptionRules<KeepOptions>

/** What `createCache` is built from. */
export interface CacheSetup {
  readonly settings: Settings
  readonly limits: AdmissionLimits
  readonly store: Store | undefined
  readonly remote: RemoteLimits
  readonly runtime: Runtime
}

export function cacheSetup(options: CacheOptions | undefined): CacheSetup {
  const parsed = checkOptions('createCache', options, cacheRules)
  const {
    store,
    storeTimeout,
    tags,
    near,
    outage,
    maxEntryBytes = DEFAULTS.maxEntryBytes,
    freeze = false,
    shareErrorMessages = false,
    runtime = systemRuntime,
    maxLoads = Infinity,
    maxWaiters = 10_000,
    maxWaitersPerKey,
    ...given
  } = parsed
  const base = { ...DEFAULTS, boundedLoads: maxLoads !== Infinity, maxEntryBytes, freeze, shareErrorMessages }
  const settings = applyOptions(base, given, 'createCache')
  const limits = { maxLoads, maxWaiters, maxWaitersPerKey: maxWaitersPerKey ?? Math.ceil(maxWaiters / 4) }
  return { settings, limits, store, remote: remoteLimits({ storeTimeout, tags, near, outage }, freeze), runtime }
}

/** The settings of one call; the cache's own, untouched, where the call brings no options. */
export function callSettings(base: Settings, options: object | undefined, owner: string): Settings {
  return options === undefined ? base : givenSettings(base, options, owner)
}

function givenSettings(base: Settings, options: object, owner: string): Settings {
  return withStrictness(base, checkOptions(owner, options, callRules), owner)
}

/** The key function and the settings of a wrapped function, checked once. */
export interface WrapSettings {
  readonly key: (...args: never[]) => string
  readonly settings: Settings
}

export function wrapSettings(base: Settings, options: object | undefined, owner: string): WrapSettings {
  const { key, ...given } = checkOptions(owner, options, wrapRules)
  if (key === undefined) throw new InvalidOptionError(`${owner}.key`, key, wrapRules.key.accepted)
  const settings = withStrictness(base, given, owner)
  requireTtl(settings)
  return { key, settings }
}

/** Checks what a decorator was given, when its class is defined and its cache not yet known. */
export function checkMethodOptions(options: object | undefined): void {
  const { key, cache } = checkOptions('cachedMethod', options, { ...wrapRules, cache: cacheRule })
  if (cache === undefined) throw new InvalidOptionError('cachedMethod.cache', cache, cacheRule.accepted)
  if (key === undefined) throw new InvalidOptionError('cachedMethod.key', key, wrapRules.key.accepted)
}

function withStrictness(base: Settings, given: Parsed<typeof callRules>, owner: string): Settings {
  const settings = applyOptions(base, given, owner)
  if (given.signal !== undefined) settings.signal = given.signal
  if (given.staleWhileRevalidate !== undefined)
    settings.allowStaleWhileRevalidate = given.staleWhileRevalidate !== false
  if (given.staleIfError !== undefined) settings.allowStaleIfError = given.staleIfError !== false
  if (given.maxAge !== undefined) settings.maxAge = given.maxAge
  if (given.near !== undefined) settings.near = given.near
  return settings
}

/** The settings that a `set` writes with. */
export function setSettings(base: Settings, options: object | undefined): Settings {
  return options === undefined ? base : applyOptions(base, checkOptions('set', options, setRules), 'set')
}

/** The windows and tags that a result is kept with: the call's, but for what its loader decided. */
export function withKeepOptions(settings: Settings, options: KeepOptions): Settings {
  return applyOptions(settings, checkOptions('load.keep', options, keepRules), 'load.keep')
}

type Given = Partial<Parsed<typeof callRules>>

/** Every call with options of its own goes through here, hits included: one copy, and then only what was given. */
function applyOptions(base: Settings, given: Given, owner: string): SettingsDraft {
  const settings = draftOf(base)
  if (given.ttl !== undefined) settings.ttl = given.ttl
  // `false` makes a call strict about what it reads; what it commits keeps the cache's window.
  if (typeof given.staleWhileRevalidate === 'number') settings.staleWhileRevalidate = given.staleWhileRevalidate
  if (typeof given.staleIfError === 'number') settings.staleIfError = given.staleIfError
  if (given.jitter !== undefined) settings.jitter = given.jitter
  if (given.codec !== undefined) settings.codec = given.codec
  if (given.tags !== undefined) settings.tags = given.tags
  if (given.softTimeout !== undefined) settings.softTimeout = given.softTimeout === false ? Infinity : given.softTimeout
  if (given.loadTimeout !== undefined) settings.loadTimeout = given.loadTimeout
  if (given.waitTimeout !== undefined) settings.waitTimeout = given.waitTimeout
  if (given.onWaitTimeout !== undefined) settings.onWaitTimeout = given.onWaitTimeout
  if (given.isFailure !== undefined) settings.isFailure = given.isFailure
  if (given.earlyRefresh !== undefined) settings.earlyRefresh = earlyOf(given.earlyRefresh, owner)
  if (given.failureCooldown !== undefined) settings.cooldown = merged(settings.cooldown, given.failureCooldown)
  if (given.lease?.duration !== undefined) settings.leaseDuration = given.lease.duration
  if (given.lease?.maxHold !== undefined) settings.maxHold = given.lease.maxHold
  checkPairs(settings, given, owner)
  return settings
}

function merged(base: CooldownLimits, given: Parsed<typeof cooldownRules>): CooldownLimits {
  return { min: given.min ?? base.min, max: given.max ?? base.max }
}

function earlyOf(given: NonNullable<Given['earlyRefresh']>, owner: string): EarlyRefresh | undefined {
  if (given === false) return undefined
  if (given.before !== undefined && given.beta !== undefined)
    throw new InvalidOptionError(`${owner}.earlyRefresh`, given, 'beta or before, and not both')
  return given.before === undefined ? { beta: given.beta ?? 1 } : { before: given.before }
}

function checkPairs(settings: Settings, given: Given, owner: string): void {
  const { maxHold, leaseDuration, cooldown, onWaitTimeout, boundedLoads } = settings
  if (onWaitTimeout === 'load' && !boundedLoads) {
    throw new InvalidOptionError(`${owner}.onWaitTimeout`, onWaitTimeout, "'error', or 'load' in a cache with maxLoads")
  }
  const { lease, failureCooldown } = given
  if (maxHold !== undefined && maxHold < leaseDuration) {
    throw lease?.maxHold === undefined
      ? new InvalidOptionError(`${owner}.lease.duration`, lease?.duration, `at most lease.maxHold (${maxHold} ms)`)
      : new InvalidOptionError(`${owner}.lease.maxHold`, lease.maxHold, `at least lease.duration (${leaseDuration} ms)`)
  }
  if (cooldown.max < cooldown.min) {
    throw failureCooldown?.max === undefined
      ? new InvalidOptionError(
          `${owner}.failureCooldown.min`,
          cooldown.min,
          `at most failureCooldown.max (${cooldown.max} ms)`,
        )
      : new InvalidOptionError(
          `${owner}.failureCooldown.max`,
          cooldown.max,
          `at least failureCooldown.min (${cooldown.min} ms)`,
        )
  }
}
