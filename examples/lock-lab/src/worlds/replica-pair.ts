import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { connect, Connections } from './connections.ts'
import { impossible, type World } from './world.ts'

/** Nothing listens there. */
const NOWHERE = ['127.0.0.1', '1']

/** A master and its replica, which is asynchronous, as Redis's replicas are: it may take over without having heard of the latest writes. */
export async function openReplicaPair(): Promise<World> {
  // Replication over a file begins at once, where the other way waits for a timer; in a folder of its own, since the next server that
  // starts beside such a file would load it.
  const folder = await mkdtemp(join(tmpdir(), 'lock-lab-'))
  const leave = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    return await openPairIn(folder, leave)
  } catch (error) {
    await leave()
    throw error
  }
}

async function openPairIn(folder: string, leave: () => Promise<void>): Promise<World> {
  const args = ['--repl-diskless-sync', 'no', '--dir', folder, '--hz', '100']
  let [master, replica] = await Promise.all([startRedis({ args }), startRedis({ args })])
  const connections = await Connections.open(master.url)
  await follow(replica, master)
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
      else if (fault === 'the replica takes over') {
        const hung = master
        hung.pause()
        await tell(replica, ['REPLICAOF', 'NO', 'ONE'])
        await connections.moveTo(replica.url)
        // As Sentinel does with a master that comes back: what only that one had is lost.
        hung.resume()
        await follow(hung, replica)
        master = replica
        replica = hung
      } else impossible(fault)
    },
    async stop() {
      connections.close()
      await Promise.all([master.stop(), replica.stop()])
      await leave()
    },
  }
}

async function follow(replica: RedisServer, master: RedisServer): Promise<void> {
  await tell(replica, ['REPLICAOF', '127.0.0.1', String(master.port)])
}

async function tell(server: RedisServer, command: readonly string[]): Promise<void> {
  const client = await connect(server.url)
  await client.sendCommand(command)
  client.destroy()
}
