import { startRedis, type RedisServer } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import type { Pool } from 'pg'
import type { Framework } from '../api.ts'
import { openDatabase, openPool } from '../database.ts'
import { errorText } from '../error-text.ts'
import type { Cleanup } from './cleanup.ts'
import { startFleet, type Fleet } from './fleet.ts'
import type { DemoOptions } from './options.ts'
import type { Progress } from './progress.ts'

/** The processes that must run before traffic can be driven. */
export interface Stage {
  readonly title: string
  readonly fleets: readonly Fleet[]
  /** For reading the database's record of loads. */
  readonly pool: Pool
}

interface Cast {
  readonly apps: readonly Framework[]
  readonly processesEach: number
  readonly words: string
}

const WITH_REDIS: Cast = {
  apps: ['express', 'fastify'],
  processesEach: 2,
  words: '2 Express and 2 Fastify processes, one Redis',
}
const WITHOUT_REDIS: Cast = {
  apps: ['express'],
  processesEach: 1,
  words: 'one Express process, the memory store, no Redis',
}

/** Starts the database, Redis and the API processes. `cleanup` can stop each of them from the moment it exists. */
export async function setStage(options: DemoOptions, progress: Progress, cleanup: Cleanup): Promise<Stage> {
  const redisUrl = options.memory ? undefined : (await findRedis(options, progress, cleanup))?.url
  const database = await openDatabase({
    seed: options.seed,
    url: options.databaseUrl,
    onProgress: progress.say,
    onStarted: cleanup.defer,
  })
  const { apps, processesEach, words } = redisUrl === undefined ? WITHOUT_REDIS : WITH_REDIS
  progress.say(`starting the API: ${words}`)
  const start = (app: Framework): Promise<Fleet> =>
    startFleet({ app, size: processesEach, databaseUrl: database.url, redisUrl, onSpawn: cleanup.defer })
  const fleets = await Promise.all(apps.map(start))
  for (const { app, processes } of fleets) {
    for (const { pid, url } of processes) progress.say(`${app} is process ${pid} at ${url}`)
  }
  const pool = openPool(database.url, 2)
  cleanup.defer(() => pool.end())
  const server = database.kind === 'pglite' ? 'PGlite' : 'Postgres'
  return { title: `GET /ranking over ${server}: ${words}`, fleets, pool }
}

function noRedis(): void {}

/** Rejects where another server listens, or Redis refuses the client. */
async function answersAt(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: false } })
  // `connect` rejects with it.
  client.on('error', () => undefined)
  await client.connect()
  client.destroy()
}

/** Your Redis, or one that is started here; undefined if none can be started. */
export async function findRedis(
  options: DemoOptions,
  progress: Progress,
  cleanup: Cleanup,
): Promise<RedisServer | undefined> {
  if (options.redisUrl === undefined) progress.say('starting Redis (set REDIS_URL to use your own)')
  try {
    const starting = startRedis()
    // It must end, too, if the demo is interrupted before it is ready.
    cleanup.defer(() => starting.then(({ stop }) => stop(), noRedis))
    const server = await starting
    if (options.redisUrl !== undefined) await answersAt(options.redisUrl)
    const { pid, url } = server
    progress.say(pid === undefined ? `using the Redis at ${url}` : `Redis is process ${pid} at ${url}`)
    return server
  } catch (error) {
    // The demo must not ignore a REDIS_URL that was given.
    if (options.redisUrl !== undefined)
      throw new Error(`the Redis of REDIS_URL cannot be used: ${errorText(error)}`, { cause: error })
    progress.note(`No Redis could be started: ${errorText(error)}`)
    return undefined
  }
}
