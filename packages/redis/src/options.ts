import { type Duration, InvalidOptionError } from '@cattlegrid/core'
import {
  type Runtime,
  systemRuntime,
  checkOptions,
  type OptionRule,
  type OptionRules,
  rule,
} from '@cattlegrid/core/extend'
import { type AnyRedisClient, acceptedInstead, hasShardedChannels } from './link/link-to.ts'

const WATCHDOG = 2000
/** The namespace of stores that name none. */
export const DEFAULT_NAMESPACE: string = 'cattlegrid'
const SHARDED_CLIENT =
  'false, or true with the client of a cluster that has sharded channels: createCluster() of redis, or new Cluster() of a later ioredis 5, ioredis 6 or iovalkey'

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * Your own client, which you connect and close: `createClient()`, `createCluster()`, or `createSentinel()`
   * with `reserveClient: true`, of `redis` 5.1+ or 6; or `new Redis()` or `new Cluster()` of `ioredis` 5 or
   * 6, or of `iovalkey`. Calls wait for its first connection within their `storeTimeout`; later, while it is
   * not ready, each process loads on its own. Give either this or `url`.
   */
  readonly client?: AnyRedisClient | undefined
  /**
   * The server's address, such as `'redis://127.0.0.1:6379'`: the store creates, connects and closes its
   * own client.
   */
  readonly url?: string | undefined
  /**
   * The prefix of every key and of the channel. Caches with the same namespace share their entries. Default:
   * `'cattlegrid'`.
   */
  readonly namespace?: string | undefined
  /**
   * How long a server may answer nothing before the store connects anew: it replaces a connection that it
   * created (with `url`, and for wake-ups), and beside your own client of node-redis it opens one, which it
   * uses until yours is connected again. Otherwise a peer that vanished silently goes unnoticed for minutes.
   * Only a complete reply counts as an answer: allow more time for large values over a slow network. `false`
   * never does so. Default: `'2s'`.
   */
  readonly watchdog?: Duration | false | undefined
  /**
   * True: on a cluster, the notices about a key (its commit, release, deletion, expiry) are published on the
   * channel of its group of slots, which only the node of that group and the processes that use keys of the
   * group hear. False: on one channel, which all nodes and all processes hear. Tags and `clear` always use
   * that one. All processes of a namespace must agree: one without this option does not hear what the others
   * publish. It needs Redis 7, and the client of a cluster with sharded channels. Default: `false`.
   */
  readonly shardedNotices?: boolean | undefined
  /** The source of time, timers, randomness and tokens; for tests. Default: the system's. */
  readonly runtime?: Runtime | undefined
}

const clientRule: OptionRule<AnyRedisClient> = {
  accepted: 'a connected or connecting client of redis (5.1+ or 6), ioredis (5 or 6) or iovalkey',
  parse(value) {
    if (typeof value !== 'object' || value === null) return undefined
    const reason = acceptedInstead(value)
    if (reason !== undefined) throw new InvalidOptionError('redisStore.client', value, reason)
    return value as AnyRedisClient
  },
}

/**
 * The error for a store with two servers, or with none: most often, a variable of the environment is missing.
 */
function refusedServer(options: RedisStoreOptions | undefined, client: unknown): InvalidOptionError {
  const isUrl = client === undefined && Object.hasOwn(options ?? {}, 'url')
  const accepted = isUrl
    ? `${urlRule.accepted}; or client in its place; is the variable of the environment set`
    : 'either client or url, and not both'
  return new InvalidOptionError(`redisStore.${isUrl ? 'url' : 'client'}`, client, accepted)
}

/** The rule of a server's URL. */
const urlRule: OptionRule<string> = {
  accepted:
    "a URL such as 'redis://127.0.0.1:6379' or 'rediss://user:password@host:6380/0', whose user and password are percent-encoded (encodeURIComponent)",
  parse: (value) =>
    typeof value === 'string' && /^rediss?:\/\/./.test(value) && URL.canParse(value) && isUnambiguous(new URL(value))
      ? value
      : undefined,
}

/**
 * False if a part of a password that is not percent-encoded stands in the host's place or behind it: it would
 * be shown as an address.
 */
function isUnambiguous({ username, password, pathname, search, hash }: URL): boolean {
  try {
    decodeURIComponent(username + password)
  } catch {
    return false
  }
  return hash === '' && !`${pathname}${search}`.includes('@')
}

const rules = {
  client: clientRule,
  url: urlRule,
  namespace: rule.text(
    '1 to 128 characters without spaces and braces (braces would change the hash tag of every key)',
    /^[^{}\s\p{Surrogate}]{1,128}$/u,
  ),
  watchdog: rule.orFalse(rule.duration(100, 60_000)),
  shardedNotices: rule.boolean,
  runtime: rule.runtime,
} satisfies OptionRules<RedisStoreOptions>

/** The checked options. Without a `client`, the store connects to `url`. */
export interface RedisStoreSetup {
  readonly client: AnyRedisClient | undefined
  readonly url: string
  readonly namespace: string
  /** ms */
  readonly watchdog: number | false
  readonly shardedNotices: boolean
  readonly runtime: Runtime
}

export function storeSetup(options: RedisStoreOptions): RedisStoreSetup {
  const {
    client,
    url,
    namespace,
    watchdog,
    shardedNotices = false,
    runtime,
  } = checkOptions('redisStore', options, rules)
  if ((client === undefined) === (url === undefined)) throw refusedServer(options, client)
  if (shardedNotices && (client === undefined || !hasShardedChannels(client)))
    throw new InvalidOptionError('redisStore.shardedNotices', shardedNotices, SHARDED_CLIENT)
  return {
    client,
    url: url ?? '',
    namespace: namespace ?? DEFAULT_NAMESPACE,
    watchdog: watchdog ?? WATCHDOG,
    shardedNotices,
    runtime: runtime ?? systemRuntime,
  }
}
