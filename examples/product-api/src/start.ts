// Starts one API: npm start -- express | fastify
import { startApi, type Framework } from './api.ts'
import { openDatabase, openPool, type Database } from './database.ts'
import { errorText } from './error-text.ts'
import { FULL_SEED, hasSchema } from './schema.ts'
import { onShutdown } from './shutdown.ts'

const { DATABASE_URL, REDIS_URL, PORT } = process.env
const port = Number(PORT ?? 3000)
await start().catch((error: unknown) => {
  console.error(isInUse(error) ? `port ${port} is in use: set PORT to another one` : errorText(error))
  process.exit(1)
})

async function start(): Promise<void> {
  const framework = readFramework(process.argv[2] ?? 'express')
  const database = await findDatabase()
  const listening = startApi({ framework, databaseUrl: database.url, redisUrl: REDIS_URL, port })
  // What was created for it must not stay behind.
  listening.catch(() => database.close())
  const api = await listening
  onShutdown(async () => {
    await api.close()
    await database.close()
  })
  const other: Framework = framework === 'express' ? 'fastify' : 'express'
  console.log(`${framework} at ${api.url}, cache in ${REDIS_URL ?? 'this process (set REDIS_URL to share it)'}`)
  console.log(
    `a second process: DATABASE_URL=${database.url} REDIS_URL=${REDIS_URL ?? '…'} PORT=${port + 1} npm start -- ${other}`,
  )
}

function isInUse(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
}

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
