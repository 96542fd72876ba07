import { type Codec, json } from '../codec/codec.ts'
import { InvalidOptionError } from '../errors.ts'
import type { CallerSignal } from '../load.ts'
import type { CooldownLimits, EarlyRefresh, ServeLimits } from '../policy/policy.ts'

/** Every option of a call, parsed and with its default: numbers are ms, `Infinity` means never. */
export interface Settings extends ServeLimits {
  readonly ttl: number | undefined
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly softTimeout: number
  readonly jitter: number
  readonly loadTimeout: number
  readonly waitTimeout: number
  readonly leaseDuration: number
  readonly maxHold: number | undefined
  readonly cooldown: CooldownLimits
  readonly isFailure: (error: unknown) => boolean
  readonly codec: Codec
  readonly signal: CallerSignal | undefined
  readonly onWaitTimeout: 'error' | 'load'
  /** True in a cache or a view with `maxLoads`. */
  readonly boundedLoads: boolean
  readonly earlyRefresh: EarlyRefresh | undefined
  readonly tags: readonly string[]
  readonly maxEntryBytes: number
  readonly freeze: boolean
  readonly shareErrorMessages: boolean
  /** True when the call accepts a copy of this process's near cache. */
  readonly near: boolean
}

/** The work that one process accepts; `Infinity`: no limit. */
export interface AdmissionLimits {
  readonly maxLoads: number | 'auto'
  readonly maxWaiters: number
  readonly maxWaitersPerKey: number
}

/** The background refreshes of all processes that share a store; undefined: no such limit. */
export interface RefreshLimits {
  readonly perSecond: number | undefined
  readonly atOnce: number | undefined
}

/** Settings that options are being applied to. */
export type SettingsDraft = { -readonly [K in keyof Settings]: Settings[K] }

const NO_TAGS: readonly string[] = []
const COOLDOWN: CooldownLimits = { min: 100, max: 5000 }
const everyError = (): boolean => true

/**
 * The settings in `base`, and the default of each that is missing there. Member by member, so that all
 * settings have one shape: the hit path reads them, and a spread of a spread has another.
 */
export function copySettings(base: Partial<Settings>): SettingsDraft {
  return {
    ttl: base.ttl,
    staleWhileRevalidate: base.staleWhileRevalidate ?? 0,
    staleIfError: base.staleIfError ?? 0,
    softTimeout: base.softTimeout ?? 1000,
    jitter: base.jitter ?? 0,
    loadTimeout: base.loadTimeout ?? 30_000,
    waitTimeout: base.waitTimeout ?? 10_000,
    leaseDuration: base.leaseDuration ?? 5000,
    maxHold: base.maxHold,
    cooldown: base.cooldown ?? COOLDOWN,
    isFailure: base.isFailure ?? everyError,
    codec: base.codec ?? json,
    signal: base.signal,
    onWaitTimeout: base.onWaitTimeout ?? 'error',
    boundedLoads: base.boundedLoads ?? false,
    earlyRefresh: base.earlyRefresh,
    tags: base.tags ?? NO_TAGS,
    maxEntryBytes: base.maxEntryBytes ?? 4 * 1024 ** 2,
    freeze: base.freeze ?? false,
    shareErrorMessages: base.shareErrorMessages ?? false,
    near: base.near ?? true,
    maxAge: base.maxAge ?? Infinity,
    allowStaleWhileRevalidate: base.allowStaleWhileRevalidate ?? true,
    allowStaleIfError: base.allowStaleIfError ?? true,
  }
}

/** The settings of a cache without options. */
export const DEFAULTS: Settings = copySettings({})

/** `ttl`, or an error that says where to give it. */
export function requireTtl(settings: Settings): number {
  return settings.ttl ?? throwNoTtl()
}

function throwNoTtl(): never {
  throw new InvalidOptionError('ttl', undefined, "a duration such as '30s', given to createCache or to the call")
}
