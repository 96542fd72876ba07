import { startRedis } from '@cattlegrid/testkit'
import { Connections } from './connections.ts'
import { impossible, type World } from './world.ts'

/** The server that REDIS_URL names, or one of the lab's own: nothing happens here but commands, and no key but the lab's own is touched. */
export async function openSharedServer(namespace: string): Promise<World> {
  const server = await startRedis()
  const connections = await Connections.open(server.url)
  return {
    connections,
    prepare: () => Promise.resolve(),
    suffer: async (fault) => impossible(fault),
    async stop() {
      await connections.silenceCallers()
      const lab = connections.of('lab')
      for await (const keys of lab.scanIterator({ MATCH: `${namespace}:*`, COUNT: 1000 }))
        if (keys.length > 0) await lab.unlink(keys)
      connections.close()
      await server.stop()
    },
  }
}
