import { types } from 'node:util'
import { storedKey } from './stored-key.ts'
import { type Codec, codecRule } from '../codec/codec.ts'
import { LONGEST_WINDOW } from '../entry.ts'
import { InvalidOptionError } from '../errors.ts'
import { checkOptions, checkValue } from '../option-rules/check-options.ts'
import { booleanRule, durationRule, tagsRule } from '../option-rules/option-rules.ts'
import type { OptionRules } from '../option-rules/option-rule.ts'
import type {
  CloseOptions,
  ExpireTagsOptions,
  GetOptions,
  InspectOptions,
  InvalidateOptions,
  ReadOptions,
  ReadyOptions,
} from './call-options.ts'
import type { Settings } from './settings.ts'

const getRules = { stale: booleanRule, codec: codecRule } satisfies OptionRules<GetOptions>
const readRules = { codec: codecRule } satisfies OptionRules<ReadOptions>
const closeRules = { drain: durationRule(0) } satisfies OptionRules<CloseOptions>
const readyRules = { timeout: durationRule(0) } satisfies OptionRules<ReadyOptions>
const inspectRules = { digest: booleanRule } satisfies OptionRules<InspectOptions>
const expireTagsRules = { deleteAfter: durationRule(1, LONGEST_WINDOW) } satisfies OptionRules<ExpireTagsOptions>
const invalidateRules = { holdOff: durationRule(0) } satisfies OptionRules<InvalidateOptions>

/** The settings of `get` and `getMany`. */
export interface GetSettings {
  readonly codec: Codec
  readonly stale: boolean
}

export function getSettings(base: Settings, verb: 'get' | 'getMany', options: object | undefined): GetSettings {
  if (options === undefined) return { codec: base.codec, stale: false }
  const parsed = checkOptions(verb, options, getRules)
  return { codec: parsed.codec ?? base.codec, stale: parsed.stale ?? false }
}

export function readCodec(base: Settings, verb: 'read' | 'peek', options: object | undefined): Codec {
  return options === undefined ? base.codec : (checkOptions(verb, options, readRules).codec ?? base.codec)
}

/** True when `inspect` takes the digest of a long key. */
export function takesDigest(options: InspectOptions | undefined): boolean {
  return checkOptions('inspect', options, inspectRules).digest ?? false
}

/** The time after an invalidation in which no load is stored, ms. */
export function holdOffTime(verb: 'delete' | 'deleteMany' | 'expire', options: InvalidateOptions | undefined): number {
  return checkOptions(verb, options, invalidateRules).holdOff ?? 0
}

/** The time after which what an expiry of tags expired is unusable, ms; undefined: never. */
export function endOfExpiry(options: ExpireTagsOptions | undefined): number | undefined {
  return checkOptions('expireTags', options, expireTagsRules).deleteAfter
}

/** The longest time that `close` waits for running loads, ms. */
export function drainTime(options: CloseOptions | undefined): number {
  return checkOptions('close', options, closeRules).drain ?? 5000
}

/** The longest time that `ready` waits, ms. */
export function readyTimeout(options: ReadyOptions | undefined): number {
  return checkOptions('ready', options, readyRules).timeout ?? 5000
}

/**
 * @throws InvalidOptionError for a value with a `then`: a promise that resolves with it would call that, so a
 * hit could not return it.
 */
export function refuseThenable(verb: 'set' | 'setMany' | 'commit', value: unknown): void {
  if (typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function')
    throw new InvalidOptionError(`${verb}.value`, value, 'a value; await a promise first')
}

/** The values of `setMany`, by stored key. @throws InvalidOptionError; InvalidKeyError */
export function storedValues(values: unknown): readonly (readonly [key: string, value: unknown])[] {
  // Also one of another realm.
  if (!types.isMap(values))
    throw new InvalidOptionError(
      'setMany.values',
      values,
      'a Map of keys and values, such as new Map(Object.entries(values))',
    )
  const entries = [...(values as ReadonlyMap<unknown, unknown>)]
  for (const [, value] of entries) refuseThenable('setMany', value)
  return entries.map(([key, value]) => [storedKey(key), value])
}

/** @throws InvalidOptionError */
export function checkedTags(verb: 'invalidateTags' | 'expireTags', tags: unknown): readonly string[] {
  return checkValue(verb, tags, tagsRule)
}
