import type { StoreNodes } from '@cattlegrid/core'
import type { LinkNodes } from './link/link.ts'
import type { RedisKeys } from './redis-keys.ts'
import type { ServerClocks } from './server-clock.ts'
import type { StepRunner } from './step-runner.ts'

/** The masters of a cluster, by what they hold for a store. */
export function storeNodes(
  nodes: LinkNodes,
  redisKeys: RedisKeys,
  clocks: ServerClocks,
  run: StepRunner['run'],
): StoreNodes {
  return {
    ofKey: (key) => nodes.addressOf(redisKeys.entry(key)),
    ofTags: () => nodes.addressOf(redisKeys.tagSequence),
    ofRefreshBudget: () => nodes.addressOf(redisKeys.refreshRate),
    ping: (node) =>
      run(async () => {
        await clocks.pingNode(node)
        return { kind: 'done' }
      }),
  }
}
