import { parseDuration } from '../option-rules/duration.ts'
import { InvalidOptionError } from '../errors.ts'
import type { CallerSignal, KeepOptions } from '../load.ts'
import { checkOptions } from '../option-rules/check-options.ts'
import {
  textRule,
  booleanRule,
  durationRule,
  functionRule,
  objectRule,
  computedTtlRule,
  orFalse,
  windowRule,
} from '../option-rules/option-rules.ts'
import type { OptionRule } from '../option-rules/option-rule.ts'
import {
  applyOptions,
  codecRow,
  jitterRow,
  loadRows,
  maxLoadsRule,
  type OptionRow,
  type OptionRows,
  row,
  staleIfErrorRow,
  staleWhileRevalidateRow,
  tagsRow,
  ttlRow,
} from './option-rows.ts'
import type { CallOptions, ClaimOptions, SetOptions, ViewOptions, WrapOptions } from './call-options.ts'
import { requireTtl, type Settings } from './settings.ts'

const signalRule = objectRule<CallerSignal>(
  'an AbortSignal',
  'addEventListener',
  'removeEventListener',
  'throwIfAborted',
)

/** `false` makes the call strict about what it reads; what it commits keeps the cache's window. */
function windowOrFalse(
  window: 'staleWhileRevalidate' | 'staleIfError',
  allowed: 'allowStaleWhileRevalidate' | 'allowStaleIfError',
): OptionRow<number | false> {
  return row(orFalse(windowRule), (settings, value) => {
    settings[allowed] = value !== false
    if (value !== false) settings[window] = value
  })
}

const callRows: OptionRows<CallOptions> = {
  ...loadRows,
  codec: codecRow,
  staleWhileRevalidate: windowOrFalse('staleWhileRevalidate', 'allowStaleWhileRevalidate'),
  staleIfError: windowOrFalse('staleIfError', 'allowStaleIfError'),
  tags: tagsRow,
  maxAge: row(durationRule(0), (settings, value) => (settings.maxAge = value)),
  near: row(booleanRule, (settings, value) => (settings.near = value)),
  signal: row(signalRule, (settings, value) => (settings.signal = value)),
}

const keyRule: OptionRule<(...args: never[]) => string> = functionRule('a function (...args) => string')

/** The options of `wrap`, which `@cachedMethod` takes, too. */
export const wrapRows: OptionRows<WrapOptions<(...args: never[]) => unknown>> = { ...callRows, key: keyRule }

const setRows: OptionRows<SetOptions> = {
  ttl: ttlRow,
  staleWhileRevalidate: staleWhileRevalidateRow,
  staleIfError: staleIfErrorRow,
  jitter: jitterRow,
  tags: tagsRow,
  codec: codecRow,
}

/** The hold of a claim ends so long before the time-out of its load, ms: it is no failure. */
const HOLD_ENDS_FIRST = 1000

/** The `ttl` of a result that its loader does not keep. */
export const ZERO_TTL = 0

/**
 * A loader computes this from what it loaded, such as the rest of a token's life: a value that has expired is
 * not kept, and is no error.
 */
const keepTtlRow: OptionRow<number | undefined> = {
  ...ttlRow,
  parse(value) {
    const milliseconds = typeof value === 'number' ? value : parseDuration(value)
    return milliseconds < 1 ? ZERO_TTL : computedTtlRule.parse(value)
  },
}

const keepRows: OptionRows<KeepOptions> = {
  ttl: keepTtlRow,
  staleWhileRevalidate: staleWhileRevalidateRow,
  staleIfError: staleIfErrorRow,
  tags: tagsRow,
}

/** The settings of one call: the very object of the cache where the call brings no options. */
export function callSettings(base: Settings, options: object | undefined, owner: string): Settings {
  return options === undefined ? base : applyOptions(base, options, callRows, owner)
}

const { onWaitTimeout: _onWaitTimeout, earlyRefresh: _earlyRefresh, ...claimable } = callRows

const claimRows: OptionRows<ClaimOptions> = {
  ...claimable,
  hold: row(durationRule(10), (settings, value) => (settings.leaseDuration = value)),
}

/** The settings of a claim: its lease lasts `hold` unless its holder renews it, and its load ends with it. */
export function claimSettings(base: Settings, options: object | undefined): Settings {
  const settings = applyOptions(base, options ?? {}, claimRows, 'claim')
  const maxHold = settings.maxHold ?? settings.loadTimeout + settings.leaseDuration
  if (settings.leaseDuration > maxHold)
    throw new InvalidOptionError('claim.hold', settings.leaseDuration, `at most lease.maxHold (${maxHold} ms)`)
  settings.maxHold = maxHold
  settings.loadTimeout = maxHold + HOLD_ENDS_FIRST
  settings.earlyRefresh = undefined
  return settings
}

const viewRows = {
  ...callRows,
  maxLoads: row(maxLoadsRule, (settings) => (settings.boundedLoads = true)),
  source: row(textRule('a string of 1 to 100 characters', /^.{1,100}$/s), () => undefined),
} satisfies OptionRows<ViewOptions>

/** The settings and the limit of a view. */
export interface ViewSettings {
  readonly settings: Settings
  /** Undefined: no other limit than that of the cache. */
  readonly maxLoads: number | 'auto' | undefined
  /** Undefined: that of the cache. */
  readonly source: string | undefined
}

export function viewSettings(base: Settings, options: object | undefined): ViewSettings {
  const { maxLoads, source } = checkOptions('with', options, viewRows)
  return { settings: applyOptions(base, options ?? {}, viewRows, 'with'), maxLoads, source }
}

/** The key function and the settings of a wrapped function, checked once. */
export interface WrapSettings {
  readonly key: (...args: never[]) => string
  readonly settings: Settings
}

export function wrapSettings(base: Settings, options: object | undefined, owner: string): WrapSettings {
  const { key } = checkOptions(owner, options, { ...wrapRows, key: keyRule })
  if (key === undefined) throw new InvalidOptionError(`${owner}.key`, key, keyRule.accepted)
  const settings = applyOptions(base, options ?? {}, wrapRows, owner)
  requireTtl(settings)
  return { key, settings }
}

/** The settings that a `set` writes with. */
export function setSettings(base: Settings, options: object | undefined, owner: 'set' | 'setMany'): Settings {
  return options === undefined ? base : applyOptions(base, options, setRows, owner)
}

/**
 * The windows and tags that a result is kept with: those of the call, changed by the loader's `load.keep`.
 */
export function withKeepOptions(settings: Settings, options: KeepOptions, owner = 'load.keep'): Settings {
  return applyOptions(settings, options, keepRows, owner)
}
