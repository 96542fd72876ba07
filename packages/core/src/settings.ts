import { type Codec, json } from './codec.ts'
import { InvalidOptionError } from './errors.ts'
import type { CooldownLimits, EarlyRefresh, Strictness } from './policy/policy.ts'

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
  readonly signal: AbortSignal | undefined
  readonly onWaitTimeout: 'error' | 'load'
  /** Whether the cache has a finite `maxLoads`. */
  readonly boundedLoads: boolean
  readonly earlyRefresh: EarlyRefresh | undefined
  readonly tags: readonly string[]
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
  maxAge: Infinity,
  allowStaleWhileRevalidate: true,
  allowStaleIfError: true,
}

/** `ttl`, or an error that says where to give it. */
export function requireTtl(settings: Settings): number {
  if (settings.ttl === undefined)
    throw new InvalidOptionError('ttl', undefined, "a duration such as '30s', given to createCache or to the call")
  return settings.ttl
}
