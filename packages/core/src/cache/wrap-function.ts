import type { Cache } from './cache.ts'

/** Returns a function that calls `fn` through the cache, with the key that `key` makes of the arguments. */
export function wrapFunction<F extends (...args: never[]) => unknown>(
  cache: Cache,
  fn: F,
  key: (...args: never[]) => string,
): (...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>> {
  return function (this: unknown, ...args) {
    const loader = (): unknown => Reflect.apply(fn, this, args)
    try {
      return cache.getOrSet(key(...args), loader) as Promise<Awaited<ReturnType<F>>>
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
