import type { Cache } from '@cattlegrid/core'

/** Returns a function that makes one object for each cache, at its first call for that cache. The views of a cache share the object. */
export function perCache<T extends object>(make: () => T): (cache: Cache) => T {
  const made = new WeakMap<Cache, T>()
  return ({ root }) => {
    const known = made.get(root)
    if (known !== undefined) return known
    const first = make()
    made.set(root, first)
    return first
  }
}
