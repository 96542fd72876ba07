import { parseArgs } from 'node:util'
import { FULL_SEED, type Seed } from '../schema.ts'

export interface DemoOptions {
  /** Print the table and nothing else. */
  readonly headless: boolean
  /** Use no Redis: one process with the memory store. */
  readonly memory: boolean
  readonly seed: Seed
  /** The number of expiries in each protected run. */
  readonly expiries: number
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
}

/** Reads `[--headless] [--memory] [--reviews n] [--expiries n]` and the environment; throws on anything else. */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      headless: { type: 'boolean', default: false },
      memory: { type: 'boolean', default: false },
      reviews: { type: 'string' },
      expiries: { type: 'string' },
    },
  })
  return {
    headless: values.headless,
    memory: values.memory,
    seed: { ...FULL_SEED, reviews: readCount('--reviews', values.reviews, FULL_SEED.reviews) },
    expiries: readCount('--expiries', values.expiries, 10),
    databaseUrl: given(env['DATABASE_URL']),
    redisUrl: given(env['REDIS_URL']),
  }
}

/** A compose file sets an empty variable where there is no value. */
function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

function readCount(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${name} must be a whole number above 0, not ${text}`)
  return Number(text)
}
