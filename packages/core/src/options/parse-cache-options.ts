import { MAX_ENTRY_BYTES } from '../entry.ts'
import { InvalidOptionError } from '../errors.ts'
import { checkOptions, type Parsed } from '../option-rules/check-options.ts'
import {
  booleanRule,
  byteSizeRule,
  countRule,
  durationRule,
  MOST_MAP_KEYS,
  nestedRule,
  objectRule,
  orFalse,
  runtimeRule,
  textRule,
} from '../option-rules/option-rules.ts'
import type { OptionRules } from '../option-rules/option-rule.ts'
import { type Runtime, systemRuntime } from '../runtime/runtime.ts'
import type { CopyLimits, RemoteLimits } from '../store/remote/remote-limits.ts'
import type { Store } from '../store/store.ts'
import {
  applyOptions,
  codecRow,
  loadRows,
  maxLoadsRule,
  row,
  staleIfErrorRow,
  staleWhileRevalidateRow,
} from './option-rows.ts'
import type { CacheOptions, NearOptions, OutageOptions, RefreshBudgetOptions, TagOptions } from './options.ts'
import { type AdmissionLimits, DEFAULTS, type RefreshLimits, type Settings } from './settings.ts'

const storeRule = objectRule<Store>(
  'a store, such as memoryStore() or redisStore({ client })',
  ...(['peek', 'read', 'acquire', 'renew', 'commit', 'release', 'put', 'invalidate', 'invalidateTags'] as const),
  ...(['tagNumbers', 'permitRefresh', 'endRefresh', 'post', 'clear', 'inspect', 'ping', 'watch', 'close'] as const),
)

const nearRules = {
  maxEntries: countRule(1, MOST_MAP_KEYS),
  maxBytes: byteSizeRule(1),
  maxAge: durationRule(1),
} satisfies OptionRules<NearOptions>

const outageRules = {
  maxEntries: countRule(1, MOST_MAP_KEYS),
  maxAge: durationRule(1),
} satisfies OptionRules<OutageOptions>

const tagRules = { maxAge: durationRule(0) } satisfies OptionRules<TagOptions>

const budgetRules = {
  perSecond: countRule(1),
  atOnce: countRule(1),
} satisfies OptionRules<RefreshBudgetOptions>

const cacheRows = {
  ...loadRows,
  name: textRule('a string of 1 to 100 characters', /^.{1,100}$/s),
  store: storeRule,
  codec: codecRow,
  staleWhileRevalidate: staleWhileRevalidateRow,
  staleIfError: staleIfErrorRow,
  storeTimeout: durationRule(10),
  near: orFalse(nestedRule(nearRules)),
  outage: orFalse(nestedRule(outageRules)),
  tags: nestedRule(tagRules),
  maxEntryBytes: row(byteSizeRule(1, MAX_ENTRY_BYTES), (settings, value) => (settings.maxEntryBytes = value)),
  strictCodec: booleanRule,
  freeze: row(booleanRule, (settings, value) => (settings.freeze = value)),
  shareErrorMessages: row(booleanRule, (settings, value) => (settings.shareErrorMessages = value)),
  maxLoads: orFalse(maxLoadsRule),
  refreshBudget: nestedRule(budgetRules),
  maxWaiters: countRule(1),
  maxWaitersPerKey: countRule(1),
  enabled: booleanRule,
  runtime: runtimeRule,
} satisfies OptionRules<CacheOptions>

type ParsedCacheOptions = Parsed<typeof cacheRows>

/** Everything that `createCache` builds a cache from. */
export interface CacheSetup {
  readonly name: string
  readonly settings: Settings
  readonly limits: AdmissionLimits
  readonly store: Store | undefined
  readonly remote: RemoteLimits
  /** Undefined: no limit. */
  readonly refreshLimits: RefreshLimits | undefined
  readonly runtime: Runtime
  readonly enabled: boolean
  readonly strictCodec: boolean
}

/**
 * @throws InvalidOptionError for an option that is unknown, has an invalid value, or does not fit
 * another one.
 */
export function cacheSetup(options: CacheOptions | undefined): CacheSetup {
  const parsed = checkOptions('createCache', options, cacheRows)
  const { name = 'default', store, runtime = systemRuntime, enabled = true, strictCodec = false } = parsed
  const { maxLoads = enabled && store?.shared === true ? 'auto' : false } = parsed
  const base = { ...DEFAULTS, boundedLoads: maxLoads !== false }
  const settings = applyOptions(base, options ?? {}, cacheRows, 'createCache')
  const limits = admissionLimits(parsed, maxLoads)
  const refreshLimits = refreshLimitsOf(parsed)
  const remote = remoteLimits(parsed, settings)
  return { name, settings, limits, store, remote, refreshLimits, runtime, enabled, strictCodec }
}

function refreshLimitsOf({ refreshBudget }: ParsedCacheOptions): RefreshLimits | undefined {
  if (refreshBudget === undefined) return undefined
  const { perSecond, atOnce } = refreshBudget
  if (perSecond === undefined && atOnce === undefined)
    throw new InvalidOptionError('createCache.refreshBudget', refreshBudget, 'perSecond, atOnce, or both')
  return { perSecond, atOnce }
}

function admissionLimits(
  { maxWaiters = 10_000, maxWaitersPerKey = Math.ceil(maxWaiters / 4) }: ParsedCacheOptions,
  maxLoads: number | 'auto' | false,
): AdmissionLimits {
  return { maxLoads: maxLoads === false ? Infinity : maxLoads, maxWaiters, maxWaitersPerKey }
}

const COPIES_MAX_BYTES = 64 * 1024 ** 2
const COPIES_MAX_AGE = 5000
const NO_COPIES = { maxEntries: 0, maxBytes: 0, maxAge: 0 }

function remoteLimits(
  { storeTimeout = 250, tags, near = false, outage }: ParsedCacheOptions,
  { freeze, waitTimeout }: Settings,
): RemoteLimits {
  return {
    storeTimeout,
    patience: Math.max(storeTimeout, waitTimeout),
    tagMaxAge: tags?.maxAge ?? 1000,
    near: near === false ? undefined : copyLimits(near, 10_000, freeze),
    // The leases and cooldowns of an outage do not depend on its copies.
    outage: outage === false ? { ...NO_COPIES, freeze } : copyLimits(outage ?? {}, 1000, freeze),
  }
}

function copyLimits(
  given: { readonly [K in 'maxEntries' | 'maxBytes' | 'maxAge']?: number | undefined },
  defaultEntries: number,
  freeze: boolean,
): CopyLimits {
  const { maxEntries = defaultEntries, maxBytes = COPIES_MAX_BYTES, maxAge = COPIES_MAX_AGE } = given
  return { maxEntries, maxBytes, maxAge, freeze }
}
