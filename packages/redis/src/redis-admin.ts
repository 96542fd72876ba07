import type { Codec } from '@cattlegrid/core'
import type { Inspection } from '@cattlegrid/core/extend'
import { inspectKey } from './inspect.ts'
import { pauseFleet } from './notices/fleet-pause.ts'
import type { RedisStoreOptions } from './options.ts'
import { RedisKeys } from './redis-keys.ts'
import { type LinkedStore, openStore } from './redis-store.ts'
import { holds, type KeyPage, keyPages, type NamespacePage, namespacePages } from './entries/search.ts'

export type { KeyPage, NamespacePage }

/**
 * What a tool does with a namespace beside a store's steps. Every call rejects with the error of Redis or the
 * client. A search sends its commands as its pages are asked for; it may show a key twice, and miss one whose
 * slot moves meanwhile.
 */
export interface RedisAdmin {
  /** The store of the namespace. Its `close` ends the admin, too. */
  readonly store: LinkedStore['store']
  /**
   * Returns the entry, lease and cooldown of a key. A value that no built-in codec and none of `codecs` wrote
   * is returned as its bytes.
   */
  inspect(key: string, codecs?: readonly Codec[]): Promise<Inspection>
  /**
   * Pauses all processes of the namespace for `duration` ms; 0 ends the pause. Returns how many subscriptions
   * were told, of a cluster those of one node.
   */
  pause(duration: number): Promise<number>
  /** True if one of the keys has an entry, or the namespace has ever had a tag. */
  holds(keys: readonly string[]): Promise<boolean>
  /** Searches all keys that have an entry. */
  keys(): AsyncGenerator<KeyPage>
  /** Searches all names in Redis for namespaces of this library. */
  namespaces(): AsyncGenerator<NamespacePage>
}

/**
 * Opens a namespace for a tool, such as the command line. The options are those of `redisStore`.
 *
 * @example
 * import { redisAdmin } from '@cattlegrid/redis/admin'
 *
 * const admin = redisAdmin({ url: 'redis://127.0.0.1:6379' })
 * for await (const { keys } of admin.keys()) console.log(keys)
 * await admin.store.close()
 * @throws InvalidOptionError for an unknown option or an invalid value.
 */
export function redisAdmin(options: RedisStoreOptions): RedisAdmin {
  const { store, link, setup } = openStore(options)
  const { namespace, runtime } = setup
  const redisKeys = new RedisKeys(namespace)
  return {
    store,
    inspect: (key, codecs) => inspectKey(link, redisKeys, key, runtime.now(), codecs),
    pause: (duration) => pauseFleet(link, redisKeys, duration),
    holds: (keys) => holds(link, redisKeys, keys),
    keys: () => keyPages(link, redisKeys),
    namespaces: () => namespacePages(link, namespace),
  }
}
