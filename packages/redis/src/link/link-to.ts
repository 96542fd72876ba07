import type { Runtime } from '@cattlegrid/core/extend'
import { ClientLink } from './client-link.ts'
import { ClusterLink } from './cluster-link.ts'
import { cureOf, reasonOf } from './connection-error.ts'
import type { ConnectionStatus } from './connection-status.ts'
import { type IoRedisCluster, OwnIoRedisCluster } from './ioredis-cluster.ts'
import { type IoRedis, ownIoRedis } from './ioredis.ts'
import type { Link } from './link.ts'
import { NodeRedisCluster, type RedisCluster } from './node-redis-cluster.ts'
import type { RedisClient } from './node-redis.ts'
import { ownUrlClient } from './own-url-client.ts'
import { reservesConnection, type RedisSentinel, SentinelLink } from './sentinel-link.ts'
import { userClient } from './watched-client.ts'

/** The clients that send to a master and keep two commands in order: all but a pool. */
export type AnyRedisClient = RedisClient | RedisCluster | RedisSentinel | IoRedis | IoRedisCluster

/** A link, and what closes the connections that the store has made for it. */
export interface OpenLink {
  readonly link: Link
  readonly close: () => Promise<void>
}

/**
 * The link to a user's client. `maxSilence`: how long the server may answer nothing before a connection that
 * the store has made is replaced, ms.
 */
export function linkTo(
  client: AnyRedisClient,
  runtime: Runtime,
  maxSilence: number | false,
  warn: (message: string) => void,
): OpenLink {
  if (isIoRedisCluster(client)) {
    const own = new OwnIoRedisCluster(client, runtime)
    warnUnlessConnected(own.status, warn)
    return { link: new ClusterLink(own, runtime), close: () => own.close() }
  }
  if (isIoRedis(client)) {
    const own = ownIoRedis(client, runtime, maxSilence, warn)
    warnUnlessConnected(own.status, warn, () => client.status === 'ready')
    return { link: new ClientLink(own), close: () => own.close() }
  }
  if (isCluster(client)) {
    const own = new NodeRedisCluster(client, runtime, maxSilence)
    warnUnlessConnected(own.status, warn)
    return { link: new ClusterLink(own, runtime), close: () => own.close() }
  }
  if (isSentinel(client)) {
    const link = new SentinelLink(client)
    return { link, close: () => link.close() }
  }
  const { used, close } = userClient(client, runtime, maxSilence)
  warnUnlessConnected(used.status, warn)
  return { link: new ClientLink(used, true), close }
}

/**
 * Warns if the first connection fails. `isReady`: true where the user's own is ready although the store's is
 * not, which is told otherwise.
 */
function warnUnlessConnected(
  status: ConnectionStatus,
  warn: (message: string) => void,
  isReady: () => boolean = () => false,
): void {
  void status.starting?.then(() => {
    if (status.error !== undefined && !isReady())
      warn(
        `The Redis client cannot connect (${reasonOf(status.error)}): ${cureOf(status.error)}. Until it connects, each process loads on its own.`,
      )
  })
}

/** The link to the server at a URL. `warn`: as of `ownUrlClient`. */
export function linkToUrl(
  url: string,
  runtime: Runtime,
  maxSilence: number | false,
  warn: (message: string) => void,
): OpenLink {
  const own = ownUrlClient(url, runtime, maxSilence, warn)
  return { link: new ClientLink(own), close: () => own.close() }
}

/** Returns what the store accepts instead of this object; undefined when it accepts the object. */
export function acceptedInstead(client: object): string | undefined {
  if ('execute' in client)
    return 'a client, not a pool: a pool sends two commands over two connections, and the store needs them in order'
  if ('customCommand' in client)
    return `${SUPPORTED}: @valkey/valkey-glide does not report whether it is connected, and the store must know before it sends`
  if (isIoRedisLike(client)) return missingMethod(client, ['callBuffer', 'duplicate', 'connect', 'on', 'off'])
  if (isSentinel(client)) return acceptedInsteadOfSentinel(client)
  const methods = isCluster(client)
    ? ['sendCommand', 'on', 'off']
    : ['sendCommand', 'duplicate', 'connect', 'on', 'off', 'unref']
  return 'isOpen' in client ? missingMethod(client, methods) : SUPPORTED
}

/** True for a client of a cluster that can subscribe to sharded channels. */
export function hasShardedChannels(client: AnyRedisClient): boolean {
  const [name, isOfCluster] = isIoRedisLike(client)
    ? ['ssubscribe', isIoRedisCluster(client)]
    : ['sSubscribe', isCluster(client)]
  return isOfCluster && typeof (client as unknown as Record<string, unknown>)[name] === 'function'
}

const SUPPORTED =
  'a client of the package redis (5.1+ or 6: createClient(), createCluster() or createSentinel()), or of ioredis (5 or 6) or iovalkey (Redis or Cluster)'

function missingMethod(client: object, methods: readonly string[]): string | undefined {
  const isMissing = (name: string): boolean => typeof (client as Record<string, unknown>)[name] !== 'function'
  return methods.some(isMissing) ? SUPPORTED : undefined
}

function acceptedInsteadOfSentinel(sentinel: RedisSentinel): string | undefined {
  return reservesConnection(sentinel)
    ? undefined
    : 'a Sentinel client made with `reserveClient: true`: without it node-redis takes a connection from its pool for every burst of commands, ' +
        'which is several times slower and can hang forever'
}

function isIoRedisLike(client: object): client is IoRedis | IoRedisCluster {
  return 'callBuffer' in client && 'status' in client
}

function isIoRedisCluster(client: object): client is IoRedisCluster {
  return isIoRedisLike(client) && 'isCluster' in client && client.isCluster
}

function isIoRedis(client: object): client is IoRedis {
  return isIoRedisLike(client) && !isIoRedisCluster(client)
}

function isCluster(client: object): client is RedisCluster {
  return 'nodeClient' in client
}

function isSentinel(client: object): client is RedisSentinel {
  return 'getMasterNode' in client
}
