import type { Runtime } from '@cattlegrid/core/extend'
import type * as ioRedisPackage from 'ioredis'
import type * as iovalkeyPackage from 'iovalkey'
import type * as nodeRedisPackage from 'redis'
import type { ConnectableClient } from './client.ts'
import { IoRedisClient, OWN_SETTINGS } from './ioredis.ts'
import { makeNodeRedis } from './node-redis.ts'

/** Makes a client of the server at a URL, not yet connected. */
export type MakeClient = (url: string, runtime: Runtime) => ConnectableClient

/** None of the packages is installed. */
export class MissingPackageError extends Error {}

const CONNECT_TIMEOUT = 2000

/** The first of `redis`, `ioredis` and `iovalkey` that is installed. @throws MissingPackageError when none is. */
export async function installedPackage(): Promise<MakeClient> {
  const installed = (await ofRedis()) ?? (await ofIoredis()) ?? (await ofIovalkey())
  if (installed !== undefined) return installed
  throw new MissingPackageError('A URL needs the package redis, ioredis or iovalkey: run `npm install redis`.')
}

// Each import stands in a `try` by itself: there, esbuild and webpack accept that the package is missing.

async function ofRedis(): Promise<MakeClient | undefined> {
  try {
    return ofNodeRedis(await import('redis'))
  } catch (error) {
    return ifMissing(error)
  }
}

async function ofIoredis(): Promise<MakeClient | undefined> {
  try {
    return ofIoRedis(await import('ioredis'))
  } catch (error) {
    return ifMissing(error)
  }
}

async function ofIovalkey(): Promise<MakeClient | undefined> {
  try {
    return ofIoRedis(await import('iovalkey'))
  } catch (error) {
    return ifMissing(error)
  }
}

/** Returns undefined for the error of an import whose package is not installed. @throws any other error. */
function ifMissing(error: unknown): undefined {
  const { code, message } = error as NodeJS.ErrnoException
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  // What a bundle of ES modules says for a CommonJS one that was missing when it was made.
  if (!isMissing && !message.startsWith('Dynamic require of')) throw error
}

function ofNodeRedis({ createClient }: typeof nodeRedisPackage): MakeClient {
  return (url, runtime) => makeNodeRedis((options) => createClient(options), url, runtime, CONNECT_TIMEOUT)
}

function ofIoRedis({ Redis }: Pick<typeof ioRedisPackage | typeof iovalkeyPackage, 'Redis'>): MakeClient {
  return (url) => new IoRedisClient(new Redis(url, { ...OWN_SETTINGS, connectTimeout: CONNECT_TIMEOUT }))
}
