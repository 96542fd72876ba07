import {
  byteSizeRule,
  countRule,
  durationRule,
  MOST_MAP_KEYS,
  nestedRule,
  type OptionRule,
  orFalse,
} from '../option-rules.ts'
import type { CopyLimits, RemoteLimits } from '../store/remote/remote-limits.ts'

type Given<T> = { readonly [K in keyof T]: T[K] | undefined }

/** The options that concern a shared store only, as they were given. */
export interface RemoteOptions {
  readonly storeTimeout: number
  readonly tags: Given<{ readonly maxAge: number }>
  readonly near: Given<Omit<CopyLimits, 'freeze'>> | false
  readonly outage: Given<Omit<CopyLimits, 'maxBytes' | 'freeze'>> | false
}

export const remoteRules: { readonly [K in keyof RemoteOptions]: OptionRule<RemoteOptions[K]> } = {
  storeTimeout: durationRule(10),
  tags: nestedRule({ maxAge: durationRule(0) }),
  near: orFalse(
    nestedRule({ maxEntries: countRule(1, MOST_MAP_KEYS), maxBytes: byteSizeRule(1), maxAge: durationRule(1) }),
  ),
  outage: orFalse(nestedRule({ maxEntries: countRule(1, MOST_MAP_KEYS), maxAge: durationRule(1) })),
}

const COPIES_BYTES = 64 * 1024 ** 2
const COPIES_AGE = 5000

export function remoteLimits(
  { storeTimeout, tags, near, outage }: Given<RemoteOptions>,
  freeze: boolean,
): RemoteLimits {
  return {
    storeTimeout: storeTimeout ?? 250,
    tagMaxAge: tags?.maxAge ?? 1000,
    near:
      near === undefined || near === false
        ? undefined
        : { maxBytes: near.maxBytes ?? COPIES_BYTES, ...lives(near, 10_000), freeze },
    outage: outage === false ? undefined : { maxBytes: COPIES_BYTES, ...lives(outage, 1000), freeze },
  }
}

function lives(
  given: Given<Pick<CopyLimits, 'maxEntries' | 'maxAge'>> | undefined,
  maxEntries: number,
): Pick<CopyLimits, 'maxEntries' | 'maxAge'> {
  return { maxEntries: given?.maxEntries ?? maxEntries, maxAge: given?.maxAge ?? COPIES_AGE }
}
