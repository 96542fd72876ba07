// npm run demo -- record: measures the database queries in flight while the entry of one side after the other expires, and writes the record and its picture.
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startRedis } from '@cattlegrid/testkit'
import { openDatabase, openPool } from './database.ts'
import { createCleanup } from './demo/cleanup.ts'
import { interruption } from './demo/interruption.ts'
import { Conditions } from './demo/live/conditions.ts'
import { drawPicture, type RecordedSide } from './demo/live/picture.ts'
import { RedisControl } from './demo/live/redis-control.ts'
import { CLIENTS, Show } from './demo/live/show.ts'
import type { Side } from './demo/live/side.ts'
import { FULL_SEED } from './schema.ts'

const RECORD = new URL('../../../docs/stampede.json', import.meta.url)
const PICTURE = new URL('../../../docs/stampede.svg', import.meta.url)
const REVIEWS = 10_000
const STEP_MS = 20
const SECONDS = 4

const cleanup = createCleanup(console.error)
try {
  await Promise.race([record(), interruption()])
} finally {
  await cleanup.run()
}
process.exit(0)

async function record(): Promise<void> {
  const redis = new RedisControl(await startRedis())
  cleanup.defer(() => redis.close())
  const seed = { ...FULL_SEED, reviews: REVIEWS }
  const database = await openDatabase({ seed, url: process.env['DATABASE_URL'], onStarted: cleanup.defer })
  const pool = openPool(database.url, 1)
  cleanup.defer(() => pool.end())
  await new Conditions(pool).create()
  const show = new Show({ databaseUrl: Promise.resolve(database.url), redis, onSpawn: cleanup.defer })
  await show.startProcesses()
  cleanup.defer(() => show.stopTraffic())
  const sides: RecordedSide[] = []
  for (const side of show.sides) sides.push(await recordSide(side))
  const kept = {
    command: 'npm run demo -- record',
    database: database.kind,
    clients: CLIENTS,
    stepMs: STEP_MS,
    sides,
  }
  await writeFile(RECORD, `${JSON.stringify(kept)}\n`)
  await writeFile(PICTURE, drawPicture(kept))
  console.log(`wrote ${fileURLToPath(RECORD)} and ${fileURLToPath(PICTURE)}`)
}

/** Alone, so that the load of one side does not slow down the next: the entry is there, expires, and is found expired by all clients at once. */
async function recordSide({ fleet, clients }: Side): Promise<RecordedSide> {
  clients.start(0)
  while (fleet.begun === 0 || fleet.inFlight > 0) await sleep(STEP_MS)
  await sleep(1_000)
  while (fleet.inFlight > 0) await sleep(STEP_MS)
  await fleet.expire()
  const { begun } = fleet
  while (fleet.begun === begun) await sleep(1)
  const inFlight: number[] = []
  for (let step = 0; step < (SECONDS * 1_000) / STEP_MS; step += 1) {
    inFlight.push(fleet.takeLoads().peak)
    if (fleet.inFlight === 0 && step * STEP_MS > 1_000) break
    await sleep(STEP_MS)
  }
  clients.stop()
  return { strategy: fleet.strategy, queries: fleet.expiryCount.loads, inFlight }
}
