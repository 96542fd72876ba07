import {
  checkOptions,
  INVALID,
  InvalidOptionError,
  objectRule,
  type OptionRule,
  type OptionRules,
  type Runtime,
  systemRuntime,
  textRule,
} from '@cattlegrid/core'
import { type RedisClient, unfit } from './redis-client.ts'

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * Your own client: `createClient()` of `redis` 5 or 6, which you connect and close. While it is not ready the cache works per process.
   * Either this or `url`.
   */
  readonly client?: RedisClient | undefined
  /** Where a server is, such as `'redis://127.0.0.1:6379'`: the store makes, connects and closes a client of its own. */
  readonly url?: string | undefined
  /** What every key and the channel begin with: caches that share it share their entries. Default: `'cattlegrid'`. */
  readonly namespace?: string | undefined
  /** Time, timers, randomness and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}

const clientRule: OptionRule<RedisClient> = {
  accepted: 'a connected or connecting client of the redis package, version 5 or 6',
  parse(value) {
    if (typeof value !== 'object' || value === null) return INVALID
    const reason = unfit(value)
    if (reason !== undefined) throw new InvalidOptionError('redisStore.client', value, reason)
    return value as RedisClient
  },
}

const urlRule: OptionRule<string> = {
  accepted: "a URL such as 'redis://127.0.0.1:6379' or 'rediss://user:password@host:6380/0'",
  parse: (value) =>
    typeof value === 'string' && /^rediss?:\/\/./.test(value) && URL.canParse(value) ? value : INVALID,
}

const rules = {
  client: clientRule,
  url: urlRule,
  namespace: textRule(
    '1 to 128 characters without spaces and braces, which would cut the hash tag of a key short',
    /^[^{}\s\p{Surrogate}]{1,128}$/u,
  ),
  runtime: objectRule<Runtime>('a Runtime', 'now', 'coarseNow', 'timeOfDay', 'random', 'token', 'schedule'),
} satisfies OptionRules<RedisStoreOptions>

/** What a store is built from: exactly one of `client` and `url` is there. */
export interface RedisStoreSetup {
  readonly client: RedisClient | undefined
  readonly url: string
  readonly namespace: string
  readonly runtime: Runtime
}

export function storeSetup(options: RedisStoreOptions): RedisStoreSetup {
  const { client, url, namespace, runtime } = checkOptions('redisStore', options, rules)
  if ((client === undefined) === (url === undefined))
    throw new InvalidOptionError('redisStore.client', client, 'either client or url, and not both')
  return { client, url: url ?? '', namespace: namespace ?? 'cattlegrid', runtime: runtime ?? systemRuntime }
}
