import { randomUUID } from 'node:crypto'
import { openOwnServer } from './own-server.ts'
import { openReplicaPair } from './replica-pair.ts'
import { openSharedServer } from './shared-server.ts'
import type { World } from './world.ts'

/** All servers of the lab. */
export interface Worlds {
  readonly shared: World
  /** Undefined where REDIS_URL names a server and there is no program to start another. */
  readonly own: World | undefined
  readonly pair: World | undefined
  /** Why there is none. */
  readonly missing: string | undefined
  /** A name for the keys of one play; all of them begin alike, and `stop` removes them. */
  freshName(): string
  stop(): Promise<void>
}

export async function openWorlds(): Promise<Worlds> {
  const namespace = `lock-lab:${randomUUID()}`
  let plays = 0
  const shared = await openSharedServer(namespace)
  const [own, pair] = await Promise.allSettled([openOwnServer(), openReplicaPair()])
  const opened = [shared, valueOf(own), valueOf(pair)]
  return {
    shared,
    own: valueOf(own),
    pair: valueOf(pair),
    missing:
      own.status === 'rejected' ? String(own.reason) : pair.status === 'rejected' ? String(pair.reason) : undefined,
    freshName: () => `${namespace}:${(plays += 1)}`,
    async stop() {
      await Promise.all(opened.map(async (world) => await world?.stop()))
    },
  }
}

function valueOf(settled: PromiseSettledResult<World>): World | undefined {
  return settled.status === 'fulfilled' ? settled.value : undefined
}
