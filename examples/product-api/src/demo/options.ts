import { parseArgs } from 'node:util'
import { FULL_SEED, type Seed } from '../schema.ts'

export interface DemoOptions {
  /** Print the options and nothing else. */
  readonly help: boolean
  /** Measure and print the table, and nothing else. */
  readonly headless: boolean
  /** What a button did lasts until it is pressed again. */
  readonly hold: boolean
  /** Use no Redis: one process with the memory store. Without Redis there is no page. */
  readonly memory: boolean
  readonly seed: Seed
  /** How many expiries to measure before the table is printed. */
  readonly expiries: number
  /** Where the page is served, if the port is free. */
  readonly port: number
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
}

export const HELP = `npm run demo                a page on loopback: the stampede, live, and buttons
                            that hurt; prints its table after ten expiries;
                            Ctrl-C ends it
npm run demo -- --headless  only the table, of Express and Fastify; exits with
                            0 if each expiry of a protected route made one load
npm run demo -- --memory    the table without Redis: one process, memory store

  --hold        what a button did lasts until it is pressed again
  --port n      where the page is served (8420); if it is taken, any free port
  --expiries n  how many expiries the table measures (10)
  --reviews n   how many reviews each query reads: 10000 for the page,
                200000 for the table alone

  DATABASE_URL  your own Postgres, not an embedded one
  REDIS_URL     your own Redis, not one that the demo starts`

/** A second of the page has some two hundred queries if nothing protects the database: each is lighter than that of the table. */
const PAGE_REVIEWS = 10_000

/** Reads the arguments that `HELP` lists, and the environment; throws on anything else. */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      headless: { type: 'boolean', default: false },
      memory: { type: 'boolean', default: false },
      hold: { type: 'boolean', default: false },
      reviews: { type: 'string' },
      expiries: { type: 'string' },
      port: { type: 'string' },
    },
  })
  const { help, headless, memory, hold } = values
  const reviews = headless || memory ? FULL_SEED.reviews : PAGE_REVIEWS
  return {
    help,
    headless,
    memory,
    hold,
    seed: { ...FULL_SEED, reviews: readCount('--reviews', values.reviews, reviews) },
    expiries: readCount('--expiries', values.expiries, 10),
    port: readPort(values.port),
    databaseUrl: given(env['DATABASE_URL']),
    redisUrl: given(env['REDIS_URL']),
  }
}

/** A compose file sets an empty variable where there is no value. */
function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

function readPort(text: string | undefined): number {
  const port = readCount('--port', text, 8420)
  if (port > 65_535) throw new Error(`--port must be at most 65535, not ${port}`)
  return port
}

function readCount(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${name} must be a whole number above 0, not ${text}`)
  return Number(text)
}
