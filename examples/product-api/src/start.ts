// One API by hand: npm start -- express | fastify
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
console.log(`${framework} at ${api.url}, cache in ${REDIS_URL ?? 'this process (set REDIS_URL to share it)'}`)
console.log(
  `another one beside it: DATABASE_URL=${database.url} REDIS_URL=${REDIS_URL ?? '…'} PORT=3001 npm start -- fastify`,
)

/** A catalogue that another process opened is used as it is; without DATABASE_URL one is started here. */
async function findDatabase(): Promise<Pick<Database, 'url' | 'close'>> {
  if (DATABASE_URL === undefined) return openDatabase({ seed: FULL_SEED, onProgress: console.log })
  const pool = openPool(DATABASE_URL, 1)
  const ready = await hasSchema(pool)
  await pool.end()
  if (!ready) throw new Error('DATABASE_URL holds no catalogue yet: run `npm run database` there first')
  return { url: DATABASE_URL, close: async () => {} }
}

function readFramework(text: string): Framework {
  if (text === 'express' || text === 'fastify') return text
  throw new Error(`express or fastify, not ${text}`)
}
