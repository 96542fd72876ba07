import type { Framework } from '../api.ts'
import { startChild, type Child } from '../child.ts'

/** Processes of one app that share one cache. */
export interface Fleet {
  readonly app: Framework
  readonly processes: readonly Child[]
}

export interface FleetOptions {
  readonly app: Framework
  readonly size: number
  readonly databaseUrl: string
  readonly redisUrl: string | undefined
  readonly onSpawn: (stop: () => Promise<void>) => void
}

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { app, size, databaseUrl, redisUrl, onSpawn } = options
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    // Each run and each app has its own entries.
    NAMESPACE: `product-api-demo-${process.pid}-${app}`,
  }
  const start = (): Promise<Child> => startChild('./api-process.ts', { args: [app], env, onSpawn })
  return { app, processes: await Promise.all(Array.from({ length: size }, start)) }
}

export function originsOf(fleet: Fleet): string[] {
  return fleet.processes.map((process) => process.url)
}
