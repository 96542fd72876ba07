import type { Runtime } from '@cattlegrid/core/extend'
import type { ConnectableClient } from './client.ts'
import { cureOf, reasonOf } from './connection-error.ts'
import { type IoRedis, IoRedisClient, OWN_SETTINGS } from './ioredis.ts'
import { makeNodeRedis } from './node-redis.ts'
import { OwnClient } from './own-client.ts'

/** None of the packages is installed. */
class MissingPackageError extends Error {}

const CONNECT_TIMEOUT = 2000

/**
 * The client that the store makes for a URL, by the package that is installed.
 *
 * @param warn called once, after this function has returned, if the first connection fails.
 */
export function ownUrlClient(
  url: string,
  runtime: Runtime,
  maxSilence: number | false,
  warn: (message: string) => void,
): OwnClient {
  const own = new OwnClient({
    runtime,
    maxSilence,
    make: () => makeClient(url, runtime),
    onUnreachable: (error) => {
      warn(unreachable(url, error))
      return true
    },
  })
  own.open()
  return own
}

/**
 * By the first of `redis`, `ioredis` and `iovalkey` that is installed; not yet connected.
 *
 * @throws MissingPackageError when none is.
 */
async function makeClient(url: string, runtime: Runtime): Promise<ConnectableClient> {
  const ofIoRedis = (Made: new (url: string, options: object) => IoRedis): ConnectableClient =>
    new IoRedisClient(new Made(url, { ...OWN_SETTINGS, connectTimeout: CONNECT_TIMEOUT }))
  // Each import stands in a `try` by itself: there, esbuild and webpack accept that the package is missing.
  try {
    const { createClient } = await import('redis')
    return makeNodeRedis((options) => createClient(options), url, runtime, CONNECT_TIMEOUT)
  } catch (error) {
    throwUnlessMissing(error)
  }
  try {
    return ofIoRedis((await import('ioredis')).Redis)
  } catch (error) {
    throwUnlessMissing(error)
  }
  try {
    return ofIoRedis((await import('iovalkey')).Redis)
  } catch (error) {
    throwUnlessMissing(error)
  }
  throw new MissingPackageError('A URL needs the package redis, ioredis or iovalkey: run `npm install redis`.')
}

/** @throws any error but that of an import whose package is not installed. */
function throwUnlessMissing(error: unknown): void {
  const { code, message } = error as NodeJS.ErrnoException
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  // What a bundle of ES modules says for a CommonJS one that was missing when it was made.
  if (!isMissing && !message.startsWith('Dynamic require of')) throw error
}

function unreachable(url: string, error: unknown): string {
  if (error instanceof MissingPackageError) return `redisStore({ url }): ${error.message}`
  // Without the url's user and password.
  const { host } = new URL(url)
  return `Redis at ${host} cannot be reached (${reasonOf(error)}): check \`url\`; ${cureOf(error)}. Until it answers, each process loads on its own.`
}
