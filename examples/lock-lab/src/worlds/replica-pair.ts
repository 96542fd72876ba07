import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { Connections } from './connections.ts'
import { impossible, type World } from './world.ts'

/** Nothing listens there. */
const NOWHERE = ['127.0.0.1', '1']

/** A master and its replica, which is asynchronous, as Redis's replicas are: it may take over without having heard of the latest writes. */
export async function openReplicaPair(): Promise<World> {
  let master = await startMaster()
  let replica = await startReplicaOf(master)
  const connections = await Connections.open(master.url)
  const takeOver = async (): Promise<void> => {
    await master.kill()
    await tell(replica, ['REPLICAOF', 'NO', 'ONE'])
    master = replica
    await connections.moveTo(master.url)
    replica = await startReplicaOf(master)
  }
  return {
    connections,
    async prepare() {
      const lab = connections.of('lab')
      await lab.sendCommand(['SET', 'replicated', 'yes'])
      if (Number(await lab.sendCommand(['WAIT', '1', '10000'])) !== 1)
        throw new Error('The replica does not follow its master')
    },
    async suffer(fault) {
      if (fault === 'the replica is cut off') await tell(replica, ['REPLICAOF', ...NOWHERE])
      else if (fault === 'the replica takes over') await takeOver()
      else impossible(fault)
    },
    async stop() {
      connections.close()
      await Promise.all([master.stop(), replica.stop()])
    },
  }
}

function startMaster(): Promise<RedisServer> {
  return startRedis({ args: ['--repl-diskless-sync-delay', '0'] })
}

function startReplicaOf({ port }: RedisServer): Promise<RedisServer> {
  return startRedis({ args: ['--repl-diskless-sync-delay', '0', '--replicaof', '127.0.0.1', String(port)] })
}

async function tell(server: RedisServer, command: readonly string[]): Promise<void> {
  const client = createClient({ url: server.url })
  client.on('error', () => undefined)
  await client.connect()
  await client.sendCommand(command)
  client.destroy()
}
