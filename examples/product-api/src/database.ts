import { Pool } from 'pg'
import { startChild } from './child.ts'
import { errorText } from './error-text.ts'
import { createSchema, dropSchema, fillSchema, type Seed } from './schema.ts'

export interface Database {
  readonly url: string
  readonly kind: 'postgres' | 'pglite'
  /** Drops the schema and closes, or ends the process that was started. */
  readonly close: () => Promise<void>
}

export interface DatabaseOptions {
  readonly seed: Seed
  /** Default: none; PGlite is started. */
  readonly url?: string | undefined
  readonly onProgress?: ((line: string) => void) | undefined
  /** Called as soon as there is something to close, even if the rest of the start fails. */
  readonly onStarted?: ((close: () => Promise<void>) => void) | undefined
}

/** For the first connection to a database that was given: a wrong address may not even refuse it. */
const FIRST_CONNECTION_MS = 30_000

/** Creates and fills the schema, in the given Postgres or in a new PGlite. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const database = options.url === undefined ? await startPglite(options) : await claimSchema(options.url, options)
  const total = options.seed.reviews.toLocaleString('en')
  await withPool(database.url, (pool) =>
    fillSchema(pool, options.seed, (written) => {
      options.onProgress?.(`seeding: ${written.toLocaleString('en')} of ${total} reviews`)
    }),
  )
  return database
}

/**
 * A pool that survives a lost connection: an error of an idle client would otherwise end the process. It waits for a connection for as
 * long as a busy database needs, unless `connectsWithinMs` is given.
 */
export function openPool(connectionString: string, max: number, connectsWithinMs = 0): Pool {
  const pool = new Pool({ connectionString, max, connectionTimeoutMillis: connectsWithinMs })
  pool.on('error', (error) => console.error(`database connection lost: ${error.message}`))
  return pool
}

/** Connects before the first request arrives, so that a burst does not wait for connections. */
export async function connectAll(pool: Pool, count: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => pool.connect()))
  for (const client of clients) client.release()
}

async function startPglite(options: DatabaseOptions): Promise<Database> {
  options.onProgress?.('starting PGlite (set DATABASE_URL to use your own Postgres)')
  // Its 9 MB of WebAssembly, compiled as fast as can be rather than as well as can be: a third of its start.
  const flags = ['--liftoff-only']
  const { pid, url, stop } = await startChild('./pglite-server.ts', { flags, onSpawn: options.onStarted })
  options.onProgress?.(`PGlite is process ${pid} at ${url}`)
  await withPool(url, createSchema)
  return { kind: 'pglite', url, close: stop }
}

async function claimSchema(url: string, options: DatabaseOptions): Promise<Database> {
  const place = hostOf(url)
  // `close` may be called while the schema is being created: it drops the schema only if this call has created it.
  const created = withPool(url, createSchema, FIRST_CONNECTION_MS)
  const drop = (): Promise<void> => withPool(url, dropSchema)
  const close = (): Promise<void> => created.then(drop, () => {})
  options.onStarted?.(close)
  try {
    await created
  } catch (error) {
    throw new Error(`the Postgres at ${place} (DATABASE_URL) cannot be used: ${errorText(error)}`, { cause: error })
  }
  return { kind: 'postgres', url, close }
}

function hostOf(url: string): string {
  if (!URL.canParse(url))
    throw new Error('DATABASE_URL is not a URL, such as postgres://user:password@localhost:5432/name')
  return new URL(url).host
}

async function withPool(url: string, use: (pool: Pool) => Promise<void>, connectsWithinMs?: number): Promise<void> {
  const pool = openPool(url, 1, connectsWithinMs)
  try {
    await use(pool)
  } finally {
    await pool.end()
  }
}
