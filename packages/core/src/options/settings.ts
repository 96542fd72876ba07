import { type Codec, json } from '../codec.ts'
import { InvalidOptionError } from '../errors.ts'
import type { CallerSignal } from '../load.ts'
import type { CooldownLimits, EarlyRefresh, Strictness } from '../policy/policy.ts'

/** Every option of a call, parsed and with its default: numbers are ms, `Infinity` means never. */
export interface Settings extends Strictness {
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
  /** Whether the cache has a finite `maxLoads`. */
  readonly boundedLoads: boolean
  readonly earlyRefresh: EarlyRefresh | undefined
  readonly tags: readonly string[]
  readonly maxEntryBytes: number
  readonly freeze: boolean
  readonly shareErrorMessages: boolean
  /** Whether a copy of this process's near cache will do. */
  readonly near: boolean
}

/** How much one process takes on; `Infinity`: no limit. */
export interface AdmissionLimits {
  readonly maxLoads: number
  readonly maxWaiters: number
  readonly maxWaitersPerKey: number
}

/** What a cache starts from. */
export const DEFAULTS: Settings = {
  ttl: undefined,
  staleWhileRevalidate: 0,
  staleIfError: 0,
  softTimeout: 1000,
  jitter: 0,
  loadTimeout: 30_000,
  waitTimeout: 10_000,
  leaseDuration: 5000,
  maxHold: undefined,
  cooldown: { min: 100, max: 5000 },
  isFailure: () => true,
  codec: json,
  signal: undefined,
  onWaitTimeout: 'error',
  boundedLoads: false,
  earlyRefresh: undefined,
  tags: [],
  maxEntryBytes: 4 * 1024 ** 2,
  freeze: false,
  shareErrorMessages: false,
  near: true,
  maxAge: Infinity,
  allowStaleWhileRevalidate: true,
  allowStaleIfError: true,
}

/** Settings in the making. */
export type SettingsDraft = { -readonly [K in keyof Settings]: Settings[K] }

/** A copy, field by field, so that all settings have one shape: the hit path reads them, and a spread of a spread has another. */
export function draftOf(base: Settings): SettingsDraft {
  return {
    ttl: base.ttl,
    staleWhileRevalidate: base.staleWhileRevalidate,
    staleIfError: base.staleIfError,
    softTimeout: base.softTimeout,
    jitter: base.jitter,
    loadTimeout: base.loadTimeout,
    waitTimeout: base.waitTimeout,
    leaseDuration: base.leaseDuration,
    maxHold: base.maxHold,
    cooldown: base.cooldown,
    isFailure: base.isFailure,
    codec: base.codec,
    signal: base.signal,
    onWaitTimeout: base.onWaitTimeout,
    boundedLoads: base.boundedLoads,
    earlyRefresh: base.earlyRefresh,
    tags: base.tags,
    maxEntryBytes: base.maxEntryBytes,
    freeze: base.freeze,
    shareErrorMessages: base.shareErrorMessages,
    near: base.near,
    maxAge: base.maxAge,
    allowStaleWhileRevalidate: base.allowStaleWhileRevalidate,
    allowStaleIfError: base.allowStaleIfError,
  }
}

/** `ttl`, or an error that says where to give it. */
export function requireTtl(settings: Settings): number {
  return settings.ttl ?? refuseNoTtl()
}

function refuseNoTtl(): never {
  throw new InvalidOptionError('ttl', undefined, "a duration such as '30s', given to createCache or to the call")
}
