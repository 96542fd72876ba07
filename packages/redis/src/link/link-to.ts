import type { Runtime } from '@cattlegrid/core'
import type { RedisClient } from '../redis-client.ts'
import { ClientLink } from './client-link.ts'
import { ClusterLink, type RedisCluster } from './cluster-link.ts'
import type { Link } from './link.ts'
import { reservesConnection, type RedisSentinel, SentinelLink } from './sentinel-link.ts'

/** The clients of `redis` that send to a master and keep two commands in order: all but a pool. */
export type AnyRedisClient = RedisClient | RedisCluster | RedisSentinel

export function linkTo(client: AnyRedisClient, runtime: Runtime): Link {
  if (isCluster(client)) return new ClusterLink(client, runtime)
  return isSentinel(client) ? new SentinelLink(client) : new ClientLink(client)
}

/** Returns what the store accepts instead of this object; undefined when it accepts the object. */
export function unsupportedReason(client: object): string | undefined {
  if ('execute' in client)
    return 'a client, not a pool: a pool sends two commands over two connections, and the store needs them in order'
  if (isSentinel(client)) return unsupportedSentinel(client)
  const methods = isCluster(client)
    ? ['sendCommand', 'on', 'off']
    : ['sendCommand', 'duplicate', 'connect', 'on', 'off', 'unref']
  const missing = methods.find((name) => typeof (client as Record<string, unknown>)[name] !== 'function')
  return missing === undefined && 'isOpen' in client
    ? undefined
    : 'a client of the redis package, version 5.1+ or 6, made by createClient(), createCluster() or createSentinel()'
}

function unsupportedSentinel(sentinel: RedisSentinel): string | undefined {
  return reservesConnection(sentinel)
    ? undefined
    : 'a Sentinel client made with `reserveClient: true`: without it node-redis takes a connection from its pool for every burst of commands, ' +
        'which is several times slower and can hang forever'
}

function isCluster(client: object): client is RedisCluster {
  return 'nodeClient' in client
}

function isSentinel(client: object): client is RedisSentinel {
  return 'getMasterNode' in client
}
