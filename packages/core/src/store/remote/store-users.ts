import { InvalidOptionError } from '../../errors.ts'
import { processWide } from '../../runtime/process-wide.ts'
import type { Store } from '../store.ts'

/**
 * The number of open caches of each shared store, of all copies of this package; 0 once the last of them has
 * closed it.
 */
const users = processWide('store-users/1', () => new WeakMap<Store, number>())

/**
 * Counts one more cache of the store, until `removeUser`.
 *
 * @throws InvalidOptionError for a store that its last cache has closed: it would never answer.
 */
export function addUser(store: Store): void {
  const count = users.get(store)
  if (count === 0)
    throw new InvalidOptionError('createCache.store', store, 'an open store', {
      is: 'was closed with the last cache that used it',
    })
  users.set(store, (count ?? 0) + 1)
}

/** Closes the store if no other cache uses it. */
export async function removeUser(store: Store): Promise<void> {
  const count = (users.get(store) ?? 1) - 1
  users.set(store, count)
  if (count === 0) await store.close()
}
