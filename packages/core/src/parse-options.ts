import { codecRule } from './codec.ts'
import { InvalidOptionError } from './errors.ts'
import type { KeepOptions } from './load.ts'
import {
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
} from './option-check.ts'
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
import type { EarlyRefresh } from './policy/policy.ts'
import { tagsRule } from './tags.ts'
import { type Runtime, runtimeRule, systemRuntime } from './runtime.ts'
import { type AdmissionLimits, DEFAULTS, requireTtl, type Settings } from './settings.ts'
import type { Store } from './store/store.ts'

/** The stale windows travel as 32-bit milliseconds: 49 days. */
const LONGEST_WINDOW = 2 ** 32 - 1

const storeRule = objectRule<Store>(
  'a store, such as memoryStore() or redisStore({ client })',
  ...(['peek', 'read', 'acquire', 'renew', 'commit', 'release', 'put', 'invalidate', 'invalidateTags'] as const),
  ...(['clear', 'inspect', 'watch', 'close'] as const),
)
const signalRule = objectRule<AbortSignal>(
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
  storeTimeout: durationRule(1),
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
  /** ms. */
  readonly storeTimeout: number
  readonly runtime: Runtime
}

export function cacheSetup(options: CacheOptions | undefined): CacheSetup {
  const parsed = checkOptions('createCache', options, cacheRules)
  const {
    store,
    storeTimeout = 250,
    runtime = systemRuntime,
    maxLoads = Infinity,
    maxWaiters = 10_000,
    maxWaitersPerKey,
  } = parsed
  const settings = settle({ ...DEFAULTS, boundedLoads: maxLoads !== Infinity }, parsed, 'createCache')
  const limits = { maxLoads, maxWaiters, maxWaitersPerKey: maxWaitersPerKey ?? Math.ceil(maxWaiters / 4) }
  return { settings, limits, store, storeTimeout, runtime }
}

/** The settings of one call; the cache's own, untouched, where the call brings no options. */
export function callSettings(base: Settings, options: object | undefined, owner: string): Settings {
  return options === undefined ? base : strict(base, checkOptions(owner, options, callRules), owner)
}

/** The key function and the settings of a wrapped function, checked once. */
export interface WrapSettings {
  readonly key: (...args: never[]) => string
  readonly settings: Settings
}

export function wrapSettings(base: Settings, options: object | undefined, owner: string): WrapSettings {
  const { key, ...given } = checkOptions(owner, options, wrapRules)
  if (key === undefined) throw new InvalidOptionError(`${owner}.key`, key, wrapRules.key.accepted)
  const settings = strict(base, given, owner)
  requireTtl(settings)
  return { key, settings }
}

/** Checks what a decorator was given, when its class is defined and its cache not yet known. */
export function checkMethodOptions(options: object | undefined): void {
  const { key, cache } = checkOptions('cachedMethod', options, { ...wrapRules, cache: cacheRule })
  if (cache === undefined) throw new InvalidOptionError('cachedMethod.cache', cache, cacheRule.accepted)
  if (key === undefined) throw new InvalidOptionError('cachedMethod.key', key, wrapRules.key.accepted)
}

function strict(base: Settings, parsed: Parsed<typeof callRules>, owner: string): Settings {
  return {
    ...settle(base, parsed, owner),
    maxAge: parsed.maxAge ?? base.maxAge,
    signal: parsed.signal,
    allowStaleWhileRevalidate: parsed.staleWhileRevalidate !== false,
    allowStaleIfError: parsed.staleIfError !== false,
  }
}

/** The settings that a `set` writes with. */
export function setSettings(base: Settings, options: object | undefined): Settings {
  return options === undefined ? base : settle(base, checkOptions('set', options, setRules), 'set')
}

/** The windows and tags that a result is kept with: the call's, but for what its loader decided. */
export function kept(settings: Settings, options: KeepOptions): Settings {
  return settle(settings, checkOptions('load.keep', options, keepRules), 'load.keep')
}

type Given = Partial<Parsed<typeof callRules>>

function settle(base: Settings, given: Given, owner: string): Settings {
  const settings: Settings = {
    ...base,
    ttl: given.ttl ?? base.ttl,
    staleWhileRevalidate: windowOf(given.staleWhileRevalidate, base.staleWhileRevalidate),
    staleIfError: windowOf(given.staleIfError, base.staleIfError),
    softTimeout: given.softTimeout === false ? Infinity : (given.softTimeout ?? base.softTimeout),
    jitter: given.jitter ?? base.jitter,
    loadTimeout: given.loadTimeout ?? base.loadTimeout,
    waitTimeout: given.waitTimeout ?? base.waitTimeout,
    leaseDuration: given.lease?.duration ?? base.leaseDuration,
    maxHold: given.lease?.maxHold ?? base.maxHold,
    cooldown: {
      min: given.failureCooldown?.min ?? base.cooldown.min,
      max: given.failureCooldown?.max ?? base.cooldown.max,
    },
    isFailure: given.isFailure ?? base.isFailure,
    codec: given.codec ?? base.codec,
    onWaitTimeout: given.onWaitTimeout ?? base.onWaitTimeout,
    earlyRefresh: earlyOf(given.earlyRefresh, base.earlyRefresh),
    tags: given.tags ?? base.tags,
  }
  checkPairs(settings, given, owner)
  return settings
}

/** `before` is a fixed moment, and beats `beta`. */
function earlyOf(given: Given['earlyRefresh'], base: EarlyRefresh | undefined): EarlyRefresh | undefined {
  if (given === undefined) return base
  if (given === false) return undefined
  return given.before === undefined ? { beta: given.beta ?? 1 } : { before: given.before }
}

/** `false` makes a call strict about what it reads; what it commits keeps the cache's window. */
function windowOf(given: number | false | undefined, base: number): number {
  return typeof given === 'number' ? given : base
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
