import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'

export type CallerName = 'A' | 'B' | 'C'
export type Client = Awaited<ReturnType<typeof connect>>

/** The faults of a server. */
export type Fault = 'the lock is evicted' | 'the server restarts' | 'the replica is cut off' | 'the replica takes over'

/** A server, or a master with its replica, on which interleavings run one after the other. */
export interface LabServer {
  readonly connections: Connections
  /** Makes the server ready for the next run. */
  prepare?(): Promise<void>
  /** Makes a fault happen; only those that can happen to this server. */
  readonly faults: Readonly<Partial<Record<Fault, () => Promise<void>>>>
  stop(): Promise<void>
}

export interface LabServers {
  /** No fault happens to it. */
  readonly shared: LabServer
  /** May evict its keys, or restart empty. Undefined if REDIS_URL is set and no other server can be started. */
  readonly own: LabServer | undefined
  /** A master and a replica that may take over. Undefined as above. */
  readonly pair: LabServer | undefined
  /** Why `own` or `pair` is undefined. */
  readonly missing: string | undefined
  /** Makes the namespace of one run; `stop` deletes the keys of all of them. */
  newNamespace(): string
  stop(): Promise<void>
}

export async function openServers(): Promise<LabServers> {
  const prefix = `lock-lab:${randomUUID()}`
  let runs = 0
  const shared = await openSharedServer(prefix)
  const [own, pair] = await Promise.allSettled([openOwnServer(), openReplicaPair()])
  const opened = { shared, own: valueOf(own), pair: valueOf(pair) }
  const failed = [own, pair].find((one) => one.status === 'rejected')
  return {
    ...opened,
    missing: failed === undefined ? undefined : String(failed.reason),
    newNamespace: () => `${prefix}:${(runs += 1)}`,
    async stop() {
      await Promise.all(Object.values(opened).map(async (server) => await server?.stop()))
    },
  }
}

function valueOf(settled: PromiseSettledResult<LabServer>): LabServer | undefined {
  return settled.status === 'fulfilled' ? settled.value : undefined
}

/** The server that REDIS_URL names, or one that is started here. The lab touches no key there but its own. */
export async function openSharedServer(prefix: string): Promise<LabServer> {
  const server = await startRedis()
  const connections = await Connections.open(server.url)
  return {
    connections,
    faults: {},
    async stop() {
      await connections.closeCallers()
      const lab = connections.of('lab')
      for await (const keys of lab.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1000 }))
        if (keys.length > 0) await lab.unlink(keys)
      connections.close()
      await server.stop()
    },
  }
}

async function openOwnServer(): Promise<LabServer> {
  let server = await startRedis({ own: true })
  const connections = await Connections.open(server.url)
  return {
    connections,
    faults: {
      'the lock is evicted': () => evictEverything(connections.of('lab')),
      'the server restarts': async () => {
        await server.kill()
        // On another port: another program may have taken this one meanwhile.
        server = await startRedis({ own: true })
        await connections.moveTo(server.url)
      },
    },
    async stop() {
      connections.close()
      await server.stop()
    },
  }
}

async function evictEverything(client: Client): Promise<void> {
  await client.sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1'])
  await until('the server has evicted every key', async () => Number(await client.sendCommand(['DBSIZE'])) === 0)
  await client.sendCommand(['CONFIG', 'SET', 'maxmemory', '0'])
}

/** Replication is asynchronous, as always in Redis: the replica may take over before it has received the latest writes. */
async function openReplicaPair(): Promise<LabServer> {
  // Replication through a file begins at once; without one, the master waits for a timer. The folder is temporary, because a server
  // that starts beside such a file loads it.
  const folder = await mkdtemp(join(tmpdir(), 'lock-lab-'))
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    return await startReplicaPair(folder, removeFolder)
  } catch (error) {
    await removeFolder()
    throw error
  }
}

async function startReplicaPair(folder: string, removeFolder: () => Promise<void>): Promise<LabServer> {
  const args = ['--repl-diskless-sync', 'no', '--dir', folder, '--hz', '100']
  let [master, replica] = await Promise.all([startRedis({ args }), startRedis({ args })])
  const connections = await Connections.open(master.url)
  await replicate(replica, '127.0.0.1', master.port)
  return {
    connections,
    async prepare() {
      const lab = connections.of('lab')
      await lab.sendCommand(['SET', 'replicated', 'yes'])
      if (Number(await lab.sendCommand(['WAIT', '1', '10000'])) !== 1)
        throw new Error('The replica does not follow its master')
    },
    faults: {
      // Nothing listens on port 1.
      'the replica is cut off': () => replicate(replica, '127.0.0.1', 1),
      'the replica takes over': async () => {
        master.pause()
        await replicate(replica, 'NO', 'ONE')
        await connections.moveTo(replica.url)
        // As Sentinel does with a master that returns: the writes that only it had are lost.
        master.resume()
        await replicate(master, '127.0.0.1', replica.port)
        ;[master, replica] = [replica, master]
      },
    },
    async stop() {
      connections.close()
      await Promise.all([master.stop(), replica.stop()])
      await removeFolder()
    },
  }
}

async function replicate(server: RedisServer, host: string, port: number | 'ONE'): Promise<void> {
  const client = await connect(server.url)
  await client.sendCommand(['REPLICAOF', host, String(port)])
  client.destroy()
}

/** One connection for each caller, and one for the lab itself. */
export class Connections {
  #clients: Record<CallerName | 'lab', Client>

  private constructor(clients: Record<CallerName | 'lab', Client>) {
    this.#clients = clients
  }

  static async open(url: string): Promise<Connections> {
    return new Connections(await connectAll(url))
  }

  of(name: CallerName | 'lab'): Client {
    return this.#clients[name]
  }

  /** Replaces all connections by connections to `url`. */
  async moveTo(url: string): Promise<void> {
    this.close()
    this.#clients = await connectAll(url)
  }

  /** Waits for the replies to what the callers have sent, and lets them send nothing more, even in a run under way. */
  async closeCallers(): Promise<void> {
    const { A, B, C } = this.#clients
    await Promise.all([A, B, C].map(async (client) => await client.close()))
  }

  close(): void {
    for (const client of Object.values(this.#clients)) if (client.isOpen) client.destroy()
  }
}

async function connectAll(url: string): Promise<Record<CallerName | 'lab', Client>> {
  const [A, B, C, lab] = await Promise.all([connect(url), connect(url), connect(url), connect(url)])
  return { A, B, C, lab }
}

export async function connect(url: string) {
  const client = createClient({ url })
  // The lab kills servers: a lost connection must not end the process.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/**
 * Takes `ms` off a key's time to live, so that no run has to wait; a key with less than that expires. Returns the PTTL afterwards: -1 if the
 * key never expires, -2 if it is gone.
 */
export async function advanceTime(client: Client, key: string, ms: number): Promise<number> {
  const timeToLive = async (): Promise<number> => Number(await client.sendCommand(['PTTL', key]))
  const remaining = await timeToLive()
  if (remaining > ms) await client.sendCommand(['PEXPIRE', key, String(remaining - ms)])
  else if (remaining >= 0) {
    await client.sendCommand(['PEXPIRE', key, '1'])
    await until(`${key} has expired`, async () => (await timeToLive()) === -2)
  }
  return await timeToLive()
}

/** Checks every millisecond, for at most ten seconds. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
