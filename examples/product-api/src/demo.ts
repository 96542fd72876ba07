// npm run demo: the stampede that did not happen, in one table. Exits 0 only if the protected routes made one load per expiry.
import { startRedis } from '@cattlegrid/testkit'
import type { Framework } from './api.ts'
import { openDatabase, openPool } from './database.ts'
import { createCleanup, type Cleanup } from './demo/cleanup.ts'
import { startFleet } from './demo/fleet.ts'
import { Interrupted, interruption } from './demo/interruption.ts'
import { measure } from './demo/measure.ts'
import { readOptions, type DemoOptions } from './demo/options.ts'
import { createProgress, type Progress } from './demo/progress.ts'
import { renderReport } from './demo/report.ts'
import { findFaults } from './demo/verdict.ts'

const FLEET: readonly Framework[] = ['express', 'fastify', 'express', 'fastify']
const ALONE: readonly Framework[] = ['express']

process.exit(await main())

async function main(): Promise<number> {
  const cleanup = createCleanup(printError)
  try {
    const options = readOptions(process.argv.slice(2), process.env)
    const progress = createProgress(options.headless)
    const faults = await Promise.race([show(options, progress, cleanup), interruption()]).finally(progress.done)
    for (const fault of faults) console.error(fault)
    return faults.length === 0 ? 0 : 1
  } catch (error) {
    printError(error)
    return error instanceof Interrupted ? error.exitCode : 1
  } finally {
    await cleanup.run()
  }
}

/** Measures, prints the table, and says what is wrong with it. */
async function show(options: DemoOptions, progress: Progress, cleanup: Cleanup): Promise<string[]> {
  const { seed, databaseUrl } = options
  const database = await openDatabase({ seed, url: databaseUrl, onProgress: progress.say, onStarted: cleanup.defer })
  const redisUrl = await findRedis(options, progress, cleanup)

  const frameworks = redisUrl === undefined ? ALONE : FLEET
  progress.say(`starting the API: ${frameworks.join(', ')}`)
  const namespace = `product-api-demo-${process.pid}`
  const fleet = await startFleet({ frameworks, databaseUrl: database.url, redisUrl, namespace, onSpawn: cleanup.defer })
  fleet.forEach((api, index) => progress.say(`${frameworks[index]} is process ${api.pid} at ${api.url}`))
  const pool = openPool(database.url, 2)
  cleanup.defer(() => pool.end())

  const origins = fleet.map((api) => api.url)
  const runs = await measure({ origins, pool, expiries: options.expiries, progress, onTraffic: cleanup.defer })
  progress.done()
  console.log(renderReport(titleOf(frameworks, database.kind), runs, process.stdout.isTTY && !process.env['NO_COLOR']))
  return findFaults(runs, options.expiries)
}

/** A Redis of yours, else one that is started here; nothing where none can be had. */
async function findRedis(options: DemoOptions, progress: Progress, cleanup: Cleanup): Promise<string | undefined> {
  if (options.memory) return undefined
  if (options.redisUrl !== undefined) return options.redisUrl
  progress.say('starting Redis (set REDIS_URL to use one of your own)')
  try {
    const redis = await startRedis()
    cleanup.defer(() => redis.stop())
    progress.say(`Redis is process ${redis.pid} at ${redis.url}`)
    return redis.url
  } catch (error) {
    progress.say(`no Redis, so one process with the memory store instead of ${FLEET.length}`)
    progress.say(messageOf(error))
    return undefined
  }
}

function titleOf(frameworks: readonly Framework[], database: 'postgres' | 'pglite'): string {
  const where = database === 'pglite' ? 'PGlite' : 'Postgres'
  if (frameworks.length === 1)
    return `GET /ranking over ${where}: no Redis, one ${frameworks[0]} process with the memory store`
  const count = (name: Framework): number => frameworks.filter((framework) => framework === name).length
  return `GET /ranking over ${where}: ${count('express')} Express and ${count('fastify')} Fastify processes, one Redis`
}

function printError(error: unknown): void {
  console.error(messageOf(error))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
