import { InvalidKeyError } from '@cattlegrid/core'
import { isDigest, storedKey } from '@cattlegrid/core/extend'

/** The key under which the store has the entry of a key. A digest, as `watch` and events print it in place of a long key, is one already. */
export function storedKeyOf(key: string): string {
  return isDigest(key) ? key : storedKey(key)
}

/** What is wrong with keys that no cache accepts; undefined if they are valid. */
export function keysError(keys: readonly string[]): string | undefined {
  try {
    for (const key of keys) storedKey(key)
    return undefined
  } catch (error) {
    if (error instanceof InvalidKeyError) return error.message
    throw error
  }
}
