// Starts one API: npm start -- express | fastify
import { startApi, type Framework } from './api.ts'
import { openDatabase, openPool, type Database } from './database.ts'
import { FULL_SEED, hasSchema } from './schema.ts'
import { onShutdown } from './shutdown.ts'

const { DATABASE_URL, REDIS_URL, PORT } = process.env
const framework = readFramework(process.argv[2] ?? 'express')
const database = await findDatabase()
const api = await startApi({ framework, databaseUrl: database.url, redisUrl: REDIS_URL, port: Number(PORT ?? 3000) })
onShutdown(async () => {
  await api.close()
  await database.close()
})
const other: Framework = framework === 'express' ? 'fastify' : 'express'
const next = Number(new URL(api.url).port) + 1
console.log(`${framework} at ${api.url}, cache in ${REDIS_URL ?? 'this process (set REDIS_URL to share it)'}`)
console.log(
  `a second process: DATABASE_URL=${database.url} REDIS_URL=${REDIS_URL ?? '…'} PORT=${next} npm start -- ${other}`,
)

/** Uses the catalogue of another process if there is one; else creates one, which is dropped when this process ends. */
async function findDatabase(): Promise<Pick<Database, 'url' | 'close'>> {
  if (DATABASE_URL !== undefined && (await holdsCatalogue(DATABASE_URL))) {
    return { url: DATABASE_URL, close: async () => {} }
  }
  return openDatabase({ seed: FULL_SEED, url: DATABASE_URL, onProgress: console.log })
}

async function holdsCatalogue(url: string): Promise<boolean> {
  const pool = openPool(url, 1)
  const found = await hasSchema(pool)
  await pool.end()
  return found
}

function readFramework(text: string): Framework {
  if (text === 'express' || text === 'fastify') return text
  throw new Error(`the framework is express or fastify, not ${text}`)
}
