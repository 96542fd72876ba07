import {
  checkOptions,
  type Duration,
  durationRule,
  INVALID,
  InvalidOptionError,
  type OptionRule,
  type OptionRules,
  orFalse,
  type Runtime,
  runtimeRule,
  systemRuntime,
  textRule,
} from '@cattlegrid/core'
import { type AnyRedisClient, unfit } from './link/link-to.ts'

const WATCHDOG = 2000

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * Your own client: `createClient()`, `createCluster()`, or `createSentinel()` with `reserveClient: true`, of `redis` 5.1+ or 6, which you connect
   * and close. While it is not ready the cache works per process. Either this or `url`.
   */
  readonly client?: AnyRedisClient | undefined
  /** Where a server is, such as `'redis://127.0.0.1:6379'`: the store makes, connects and closes a client of its own. */
  readonly url?: string | undefined
  /** What every key and the channel begin with: caches that share it share their entries. Default: `'cattlegrid'`. */
  readonly namespace?: string | undefined
  /**
   * How long a server may leave everything unanswered on a connection that the store made itself (with `url`, and for the wake-ups) before that
   * connection is closed and opened anew: a peer that vanished without a word is noticed by nothing else for minutes. A reply counts when it is whole: give more time where large values meet a slow wire. `false` waits. Default: `'2s'`.
   */
  readonly watchdog?: Duration | false | undefined
  /** Time, timers, randomness and tokens: for tests. Default: the process's own. */
  readonly runtime?: Runtime | undefined
}

const clientRule: OptionRule<AnyRedisClient> = {
  accepted: 'a connected or connecting client, cluster or Sentinel client of the redis package, version 5.1+ or 6',
  parse(value) {
    if (typeof value !== 'object' || value === null) return INVALID
    const reason = unfit(value)
    if (reason !== undefined) throw new InvalidOptionError('redisStore.client', value, reason)
    return value as AnyRedisClient
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
  watchdog: orFalse(durationRule(100, 60_000)),
  runtime: runtimeRule,
} satisfies OptionRules<RedisStoreOptions>

/** What a store is built from: exactly one of `client` and `url` is there. */
export interface RedisStoreSetup {
  readonly client: AnyRedisClient | undefined
  readonly url: string
  readonly namespace: string
  /** ms */
  readonly watchdog: number | false
  readonly runtime: Runtime
}

export function storeSetup(options: RedisStoreOptions): RedisStoreSetup {
  const { client, url, namespace, watchdog, runtime } = checkOptions('redisStore', options, rules)
  if ((client === undefined) === (url === undefined))
    throw new InvalidOptionError('redisStore.client', client, 'either client or url, and not both')
  return {
    client,
    url: url ?? '',
    namespace: namespace ?? 'cattlegrid',
    watchdog: watchdog ?? WATCHDOG,
    runtime: runtime ?? systemRuntime,
  }
}
