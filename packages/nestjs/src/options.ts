import { type Cache, type CacheOptions, createCache, InvalidOptionError } from '@cattlegrid/core'
import { checkOptions, type OptionRules, rule } from '@cattlegrid/core/extend'
import type { CachedOptions } from './cached.ts'

/** Options of `CattlegridModule`. */
export interface CattlegridModuleOptions {
  /**
   * A cache that your application made, and closes itself. Default: the module makes one with `options`, and
   * closes it with the app.
   */
  readonly cache?: Cache | undefined
  /**
   * Options of the cache that the module makes, as for `createCache()`. Default: those of `createCache()`, a
   * store in the memory of this process.
   */
  readonly options?: CacheOptions | undefined
  /** For every `@Cached()` that does not give its own. Default: none. */
  readonly defaults?: CachedOptions<never, never> | undefined
}

const cacheRule = rule.object<Cache>('a cache made by createCache()', 'lookup', 'wrap')

const rules = {
  cache: cacheRule,
  options: rule.object<CacheOptions>('an object with options of createCache()'),
  defaults: rule.object<CachedOptions<never, never>>('an object with options of @Cached()'),
} satisfies OptionRules<CattlegridModuleOptions>

/** @throws InvalidOptionError for an option that is unknown or has a value it cannot have. */
export function checkModuleOptions(options: CattlegridModuleOptions | undefined): CattlegridModuleOptions {
  const checked = checkOptions('CattlegridModule', options, rules)
  if (checked.cache !== undefined && checked.options !== undefined)
    throw new InvalidOptionError('CattlegridModule.options', checked.options, 'nothing where `cache` is given')
  return checked
}

/** True for a cache in the place of the options. */
export function isCache(options: object): boolean {
  return cacheRule.parse(options) === options
}

export function cacheOf({ cache, options }: CattlegridModuleOptions): Cache {
  return cache ?? createCache(options)
}
