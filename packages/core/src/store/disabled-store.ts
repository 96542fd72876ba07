import { NO_VERSION } from '../entry.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { memoryStore } from './memory/memory-store.ts'
import { addUser, removeUser } from './remote/store-users.ts'
import type { Store } from './store.ts'

/**
 * The store of a cache that is not enabled: it keeps nothing, and sends nothing to `given`, which it closes
 * as any other cache would.
 */
export function disabledStore(given: Store | undefined, runtime: Runtime): Store {
  if (given?.shared === true) addUser(given)
  return Object.assign(memoryStore({ runtime, maxEntries: 1 }), {
    put: () => Promise.resolve({ kind: 'stored', version: NO_VERSION }),
    close: async () => {
      if (given?.shared === true) await removeUser(given)
    },
  } satisfies Partial<Store>)
}
