import type { Framework } from '../api.ts'
import { startChild, type Child } from '../child.ts'

export interface FleetOptions {
  readonly frameworks: readonly Framework[]
  readonly databaseUrl: string
  readonly redisUrl: string | undefined
  readonly namespace: string
  readonly onSpawn: (stop: () => Promise<void>) => void
}

/** Starts one API process for each name, all at once, on the same database and the same Redis. */
export async function startFleet(options: FleetOptions): Promise<Child[]> {
  const env = { DATABASE_URL: options.databaseUrl, REDIS_URL: options.redisUrl, NAMESPACE: options.namespace }
  return Promise.all(
    options.frameworks.map((framework) =>
      startChild('./api-process.ts', { args: [framework], env, onSpawn: options.onSpawn }),
    ),
  )
}
