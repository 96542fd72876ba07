import { type Codec, codecRule } from '../codec/codec.ts'
import { InvalidOptionError } from '../errors.ts'
import { optionNames, type Parsed, parseOption } from '../option-rules/check-options.ts'
import {
  countRule,
  durationRule,
  fractionRule,
  functionRule,
  nestedRule,
  oneOfRule,
  orAuto,
  orFalse,
  tagsRule,
  ttlRule,
  windowRule,
} from '../option-rules/option-rules.ts'
import type { OptionRule, OptionRules } from '../option-rules/option-rule.ts'
import { copySettings, type Settings, type SettingsDraft } from './settings.ts'
import type { EarlyRefreshOptions, FailureCooldownOptions, LeaseOptions, LoadOptions } from './options.ts'

/**
 * One option: the values that it takes, and how one of them becomes settings. Its default is the one of
 * those settings.
 */
export interface OptionRow<T> extends OptionRule<T> {
  /**
   * `owner`: the name to put before the option in an error. Missing where the option is no setting of a call.
   */
  apply?(settings: SettingsDraft, value: T, owner: string): void
}

/** A row for every option of one interface; the compiler asks for each key. */
export type OptionRows<O> = { readonly [K in keyof Required<O>]: OptionRow<unknown> }

/** A row from a rule. */
export function row<T>(rule: OptionRule<T>, apply: NonNullable<OptionRow<T>['apply']>): OptionRow<T> {
  return { ...rule, apply }
}

/**
 * The settings in `base`, changed by the given options. Every call that gives options comes through here,
 * hits included: one copy, and then only what was given.
 *
 * @throws InvalidOptionError for an option that is unknown, has an invalid value, or does not fit
 * another one.
 */
export function applyOptions(
  base: Settings,
  options: object,
  rows: Readonly<Record<string, OptionRow<unknown>>>,
  owner: string,
): SettingsDraft {
  const settings = copySettings(base)
  for (const name of optionNames(owner, options, rows)) {
    const value = parseOption(owner, options, name, rows)
    if (value !== undefined) rows[name]?.apply?.(settings, value, owner)
  }
  const { onWaitTimeout, boundedLoads } = settings
  if (onWaitTimeout === 'load' && !boundedLoads) {
    throw new InvalidOptionError(`${owner}.onWaitTimeout`, onWaitTimeout, "'error', or 'load' in a cache with maxLoads")
  }
  if ('earlyRefresh' in rows) requireTimeBefore(settings, options, owner)
  return settings
}

/** Does not apply to an entry that is written with another `ttl`: its early refresh comes later. */
function requireTimeBefore({ earlyRefresh, ttl }: Settings, options: object, owner: string): void {
  if (earlyRefresh === undefined || ttl === undefined || !('before' in earlyRefresh) || earlyRefresh.before < ttl)
    return
  const { before } = earlyRefresh
  throw (options as LoadOptions).earlyRefresh === undefined
    ? new InvalidOptionError(`${owner}.ttl`, ttl, `more than earlyRefresh.before (${before} ms)`)
    : new InvalidOptionError(`${owner}.earlyRefresh.before`, before, `less than ttl (${ttl} ms)`)
}

const leaseRules = { duration: durationRule(10), maxHold: durationRule(10) } satisfies OptionRules<LeaseOptions>

function applyLease(settings: SettingsDraft, given: Parsed<typeof leaseRules>, owner: string): void {
  const { duration = settings.leaseDuration, maxHold = settings.maxHold } = given
  settings.leaseDuration = duration
  settings.maxHold = maxHold
  if (maxHold === undefined || maxHold >= duration) return
  throw given.maxHold === undefined
    ? new InvalidOptionError(`${owner}.lease.duration`, duration, `at most lease.maxHold (${maxHold} ms)`)
    : new InvalidOptionError(`${owner}.lease.maxHold`, maxHold, `at least lease.duration (${duration} ms)`)
}

const cooldownRules = { min: durationRule(1), max: durationRule(1) } satisfies OptionRules<FailureCooldownOptions>

function applyCooldown(settings: SettingsDraft, given: Parsed<typeof cooldownRules>, owner: string): void {
  const { min = settings.cooldown.min, max = settings.cooldown.max } = given
  settings.cooldown = { min, max }
  if (max >= min) return
  throw given.max === undefined
    ? new InvalidOptionError(`${owner}.failureCooldown.min`, min, `at most failureCooldown.max (${max} ms)`)
    : new InvalidOptionError(`${owner}.failureCooldown.max`, max, `at least failureCooldown.min (${min} ms)`)
}

const positiveRule: OptionRule<number> = {
  accepted: 'a number above 0',
  parse: (value) => (typeof value === 'number' && value > 0 && value !== Infinity ? value : undefined),
}

const earlyRules = { beta: positiveRule, before: durationRule(1) } satisfies OptionRules<EarlyRefreshOptions>

function applyEarlyRefresh(settings: SettingsDraft, given: Parsed<typeof earlyRules> | false, owner: string): void {
  if (given === false) {
    settings.earlyRefresh = undefined
    return
  }
  const { beta, before } = given
  if (before !== undefined && beta !== undefined)
    throw new InvalidOptionError(`${owner}.earlyRefresh`, given, 'beta or before, and not both')
  settings.earlyRefresh = before === undefined ? { beta: beta ?? 1 } : { before }
}

/** The options that a value is written with: of `set`, of `load.keep` and of the cache. */
export const ttlRow: OptionRow<number | undefined> = row(ttlRule, (settings, value) => (settings.ttl = value))
export const staleWhileRevalidateRow: OptionRow<number> = row(
  windowRule,
  (settings, value) => (settings.staleWhileRevalidate = value),
)
export const staleIfErrorRow: OptionRow<number> = row(windowRule, (settings, value) => (settings.staleIfError = value))
export const jitterRow: OptionRow<number> = row(fractionRule, (settings, value) => (settings.jitter = value))
export const maxLoadsRule: OptionRule<number | 'auto'> = orAuto(countRule(1))
export const tagsRow: OptionRow<readonly string[]> = row(tagsRule, (settings, value) => (settings.tags = value))
export const codecRow: OptionRow<Codec> = row(codecRule, (settings, value) => (settings.codec = value))

/** The options of both the cache and a call. */
export const loadRows: OptionRows<LoadOptions> = {
  ttl: ttlRow,
  softTimeout: row(orFalse(durationRule(0)), (settings, value) => {
    settings.softTimeout = value === false ? Infinity : value
  }),
  jitter: jitterRow,
  loadTimeout: row(durationRule(1), (settings, value) => (settings.loadTimeout = value)),
  waitTimeout: row(durationRule(0), (settings, value) => (settings.waitTimeout = value)),
  onWaitTimeout: row(oneOfRule('error', 'load'), (settings, value) => (settings.onWaitTimeout = value)),
  earlyRefresh: row(orFalse(nestedRule(earlyRules)), applyEarlyRefresh),
  lease: row(nestedRule(leaseRules), applyLease),
  failureCooldown: row(nestedRule(cooldownRules), applyCooldown),
  isFailure: row(
    functionRule<Settings['isFailure']>('a function (error) => boolean'),
    (settings, value) => (settings.isFailure = value),
  ),
}
