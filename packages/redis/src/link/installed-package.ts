import type { Runtime } from '@cattlegrid/core'
import type * as ioRedisPackage from 'ioredis'
import type * as iovalkeyPackage from 'iovalkey'
import type * as nodeRedisPackage from 'redis'
import type { ConnectableClient } from './client.ts'
import { IoRedisClient, OWN_SETTINGS } from './ioredis.ts'
import type { IoRedisCluster } from './ioredis-cluster.ts'
import { makeNodeRedis } from './node-redis.ts'
import type { RedisCluster } from './node-redis-cluster.ts'

/** A cluster object of an installed package: whoever has it made connects and destroys it. */
export interface UnconnectedCluster {
  readonly client: RedisCluster | IoRedisCluster
  connect(): Promise<unknown>
  destroy(): void
}

/** The package that makes clients for a URL. */
export interface ClientPackage {
  /** Makes a client of the server at a URL, not yet connected. `connectTimeout`: how long it waits for the socket, ms. */
  client(url: string, runtime: Runtime, connectTimeout?: number): ConnectableClient
  /** Makes a client of the cluster that the server at a URL belongs to, not yet connected. */
  cluster(url: string): UnconnectedCluster
}

/** None of the packages is installed. */
export class MissingPackageError extends Error {}

const CONNECT_TIMEOUT = 2000

/** The first of `redis`, `ioredis` and `iovalkey` that is installed. @throws MissingPackageError when none is. */
export async function installedPackage(): Promise<ClientPackage> {
  const installed = (await ofRedis()) ?? (await ofIoredis()) ?? (await ofIovalkey())
  if (installed !== undefined) return installed
  throw new MissingPackageError('A URL needs the package redis, ioredis or iovalkey: run `npm install redis`.')
}

// Each import stands in a `try` by itself: there, esbuild and webpack accept that the package is missing.

async function ofRedis(): Promise<ClientPackage | undefined> {
  try {
    return ofNodeRedis(await import('redis'))
  } catch (error) {
    return ifMissing(error)
  }
}

async function ofIoredis(): Promise<ClientPackage | undefined> {
  try {
    return ofIoRedis(await import('ioredis'))
  } catch (error) {
    return ifMissing(error)
  }
}

async function ofIovalkey(): Promise<ClientPackage | undefined> {
  try {
    return ofIoRedis(await import('iovalkey'))
  } catch (error) {
    return ifMissing(error)
  }
}

/** Returns undefined for the error of an import whose package is not installed. @throws any other error. */
export function ifMissing(error: unknown): undefined {
  const { code, message } = error as NodeJS.ErrnoException
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  // What a bundle of ES modules says for a CommonJS one that was missing when it was made.
  if (!isMissing && !message.startsWith('Dynamic require of')) throw error
}

function ofNodeRedis(nodeRedis: typeof nodeRedisPackage): ClientPackage {
  return {
    client: (url, runtime, connectTimeout = CONNECT_TIMEOUT) =>
      makeNodeRedis((options) => nodeRedis.createClient(options), url, runtime, connectTimeout),
    cluster(url) {
      const { secure, ...credentials } = accessOf(url)
      // For the nodes that the first one names.
      const defaults = secure ? { ...credentials, socket: { tls: true as const } } : credentials
      const client = nodeRedis.createCluster({ rootNodes: [{ url }], defaults })
      client.on('error', () => undefined)
      return { client, connect: () => client.connect(), destroy: () => client.destroy() }
    },
  }
}

type IoRedisPackage = Pick<typeof ioRedisPackage | typeof iovalkeyPackage, 'Redis' | 'Cluster'>

function ofIoRedis(ioRedis: IoRedisPackage): ClientPackage {
  return {
    client: (url, _runtime, connectTimeout = CONNECT_TIMEOUT) =>
      new IoRedisClient(new ioRedis.Redis(url, { ...OWN_SETTINGS, connectTimeout })),
    cluster(url) {
      const { secure, ...credentials } = accessOf(url)
      const { hostname, port } = new URL(url)
      const redisOptions = secure ? { ...credentials, tls: {} } : credentials
      const nodes = [{ host: hostname, port: Number(port === '' ? 6379 : port) }]
      const client = new ioRedis.Cluster(nodes, { lazyConnect: true, redisOptions })
      client.on('error', () => undefined)
      return { client, connect: () => client.connect(), destroy: () => client.disconnect() }
    },
  }
}

function accessOf(url: string): { readonly secure: boolean; readonly username?: string; readonly password?: string } {
  const { protocol, username, password } = new URL(url)
  return {
    secure: protocol === 'rediss:',
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  }
}
