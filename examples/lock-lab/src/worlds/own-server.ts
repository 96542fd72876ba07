import { startRedis } from '@cattlegrid/testkit'
import { Connections } from './connections.ts'
import { impossible, until, type World } from './world.ts'

/** A server of the lab's own, which may run out of memory, or die and come back with nothing. */
export async function openOwnServer(): Promise<World> {
  let server = await startRedis({ own: true })
  const connections = await Connections.open(server.url)
  return {
    connections,
    prepare: () => Promise.resolve(),
    async suffer(fault) {
      if (fault === 'the lock is evicted') await evictEverything(connections)
      else if (fault === 'the server restarts') {
        await server.kill()
        // On another port: somebody else may have taken this one by now.
        server = await startRedis({ own: true })
        await connections.moveTo(server.url)
      } else impossible(fault)
    },
    async stop() {
      connections.close()
      await server.stop()
    },
  }
}

async function evictEverything(connections: Connections): Promise<void> {
  const lab = connections.of('lab')
  await lab.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1'])
  await until('the server has evicted every key', async () => Number(await lab.sendCommand(['DBSIZE'])) === 0)
  await lab.sendCommand(['CONFIG', 'SET', 'maxmemory', '0'])
}
