import type { Cache } from '@cattlegrid/core'
import { processWide } from '@cattlegrid/core/extend'

/**
 * Returns a function that makes one object for each cache, at its first call for that cache. The views of a
 * cache share the object, and so do all copies of this package: change the name with the shape of the object.
 */
export function perCache<T extends object>(name: string, make: () => T): (cache: Cache) => T {
  const made = processWide(name, () => new WeakMap<Cache, T>())
  return ({ root }) => {
    const known = made.get(root)
    if (known !== undefined) return known
    const first = make()
    made.set(root, first)
    return first
  }
}
