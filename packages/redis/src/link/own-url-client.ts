import type { Runtime } from '@cattlegrid/core'
import type { ConnectableClient } from './client.ts'
import { OWN_SETTINGS, IoRedisClient } from './ioredis.ts'
import { makeNodeRedis } from './node-redis.ts'
import { OwnClient, reasonOf } from './own-client.ts'

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
    onUnreachable: (error) => warn(unreachable(url, error)),
  })
  own.open()
  return own
}

async function makeClient(url: string, runtime: Runtime): Promise<ConnectableClient> {
  const nodeRedis = await installed(() => import('redis'))
  if (nodeRedis !== undefined) return makeNodeRedis((options) => nodeRedis.createClient(options), url, runtime)
  const ioredis = await installed(() => import('ioredis'))
  if (ioredis === undefined)
    throw new MissingPackageError('redisStore({ url }) needs the package redis or ioredis: run `npm install redis`.')
  return new IoRedisClient(new ioredis.Redis(url, { ...OWN_SETTINGS, connectTimeout: 2000 }))
}

class MissingPackageError extends Error {}

/** undefined: the package is not installed. */
async function installed<T>(load: () => Promise<T>): Promise<T | undefined> {
  try {
    return await load()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

function unreachable(url: string, error: unknown): string {
  if (error instanceof MissingPackageError) return error.message
  // Without the url's user and password.
  const { host } = new URL(url)
  return `Redis at ${host} cannot be reached (${reasonOf(error)}): check \`url\`. Until it answers, each process loads on its own.`
}
