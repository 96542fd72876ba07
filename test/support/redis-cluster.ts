import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisServer, startRedis } from '../../packages/testkit/src/redis-server.ts'
import { freePort } from '../free-port.ts'
import { AFTER_A_KILL, BEFORE_A_KILL } from './promotion-delay.ts'
import { askRedis, untilRedis } from './redis-ask.ts'

const SLOTS = 16_384

export interface StartRedisClusterOptions {
  /** Masters, which share the slots; at least 3. Default: 3. */
  readonly masters?: number | undefined
  /** Replicas of each master. Default: 1. */
  readonly replicas?: number | undefined
  /** Further arguments of every node. */
  readonly args?: readonly string[] | undefined
}

/** A Redis Cluster on this machine, one process for each node. All of them end when this process ends, even by SIGKILL. */
export interface RedisClusterServers {
  /** The `rootNodes` for `createCluster`. */
  readonly rootNodes: readonly { readonly url: string }[]
  /** The nodes that started as masters, in the order of their slots. */
  readonly masters: readonly RedisServer[]
  /** The nodes that started as replicas: those of the first master, then those of the second. */
  readonly replicas: readonly RedisServer[]
  /**
   * Kills the master at that index and waits for its exit. Its replica is promoted about two seconds later. Until then no replica takes the place of a
   * master that only stalls, as on a busy machine. Default: the first master.
   */
  killMaster(place?: number): Promise<RedisServer>
  /** Waits until every running node knows a running master for every slot. */
  healed(): Promise<void>
  /** Ends every node and removes its files. */
  stop(): Promise<void>
}

/** Starts a cluster and waits until it serves every slot and every replica follows its master. */
export async function startRedisCluster(options: StartRedisClusterOptions = {}): Promise<RedisClusterServers> {
  const { masters = 3, replicas = 1, args = [] } = options
  const folder = mkdtempSync(join(tmpdir(), `cattlegrid-cluster-${process.pid}-`))
  const starts = Array.from({ length: masters * (1 + replicas) }, () => startNode(folder, args))
  const nodes = (await Promise.allSettled(starts)).flatMap((start) =>
    start.status === 'fulfilled' ? [start.value] : [],
  )
  const cluster = new ClusterServers(nodes.slice(0, masters), nodes.slice(masters), folder)
  try {
    await Promise.all(starts)
    await cluster.join()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

async function startNode(folder: string, args: readonly string[]): Promise<RedisServer> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    const clustered = ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`]
    // Nodes that join ask each other the more often, the shorter this time is.
    const quick = ['--cluster-node-timeout', String(AFTER_A_KILL), '--repl-diskless-sync-delay', '0']
    try {
      return await startRedis({ port, args: ['--dir', folder, ...clustered, ...quick, ...args] })
    } catch (error) {
      // Another process has taken the port, or the port of the cluster bus 10,000 above it.
      if (tries === 5) throw error
    }
  }
}

class ClusterServers implements RedisClusterServers {
  readonly masters: readonly RedisServer[]
  readonly replicas: readonly RedisServer[]
  readonly #folder: string
  readonly #dead = new Set<RedisServer>()

  constructor(masters: readonly RedisServer[], replicas: readonly RedisServer[], folder: string) {
    this.masters = masters
    this.replicas = replicas
    this.#folder = folder
  }

  get rootNodes(): readonly { readonly url: string }[] {
    return this.#nodes.map(({ url }) => ({ url }))
  }

  /** Joins the nodes as `redis-cli --cluster create` does. */
  async join(): Promise<void> {
    await Promise.all(this.masters.map((master, place) => this.#addSlots(master, place)))
    const [first, ...others] = this.#nodes
    if (first === undefined) return
    for (const { port } of others) await askRedis(first.port, `CLUSTER MEET 127.0.0.1 ${port}`)
    const everybody = `cluster_known_nodes:${this.#nodes.length}\r`
    await this.#everywhere('CLUSTER INFO', (answer) => answer.includes(everybody))
    await Promise.all(this.replicas.map((replica, place) => this.#follow(replica, place)))
    await this.healed()
    await this.#promoteAfter(BEFORE_A_KILL)
  }

  async killMaster(place: number = 0): Promise<RedisServer> {
    const master = this.masters[place]
    if (master === undefined) throw new RangeError(`The cluster has no master ${place}`)
    await this.#promoteAfter(AFTER_A_KILL)
    this.#dead.add(master)
    await master.kill()
    return master
  }

  async healed(): Promise<void> {
    await this.#everywhere('CLUSTER INFO', (answer) => answer.includes('cluster_state:ok'))
    await this.#everywhere(
      'CLUSTER NODES',
      (answer) => answer.split('\n').filter((line) => this.#serves(line)).length === this.masters.length,
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #nodes(): readonly RedisServer[] {
    return [...this.masters, ...this.replicas]
  }

  /** Each line describes a node; that of a master with slots ends with their ranges. For a while, other nodes still list a killed master as connected. */
  #serves(line: string): boolean {
    const [, port] = /^\S+ \S+:(\d+)@\S+ \S*master - .* connected \d/.exec(line) ?? []
    return port !== undefined && !Array.from(this.#dead, (node) => node.port).includes(Number(port))
  }

  async #addSlots({ port }: RedisServer, place: number): Promise<void> {
    const border = (count: number): number => Math.floor((count * SLOTS) / this.masters.length)
    await askRedis(port, `CLUSTER SET-CONFIG-EPOCH ${place + 1}`)
    await askRedis(port, `CLUSTER ADDSLOTSRANGE ${border(place)} ${border(place + 1) - 1}`)
  }

  async #follow({ port }: RedisServer, place: number): Promise<void> {
    const master = this.masters[Math.floor((place * this.masters.length) / this.replicas.length)]
    if (master === undefined) return
    await askRedis(port, `CLUSTER REPLICATE ${await askRedis(master.port, 'CLUSTER MYID')}`)
    // A replica that has not copied its master's data yet cannot be promoted.
    await untilRedis(port, 'INFO replication', (answer) => answer.includes('master_link_status:up'))
    const id = await askRedis(port, 'CLUSTER MYID')
    await this.#everywhere('CLUSTER NODES', (answer) =>
      answer.split('\n').some((line) => line.startsWith(id) && line.includes('slave')),
    )
  }

  async #promoteAfter(silence: number): Promise<void> {
    await Promise.all(this.#alive.map(({ port }) => askRedis(port, `CONFIG SET cluster-node-timeout ${silence}`)))
  }

  get #alive(): readonly RedisServer[] {
    return this.#nodes.filter((node) => !this.#dead.has(node))
  }

  async #everywhere(command: string, says: (answer: string) => boolean): Promise<void> {
    await Promise.all(this.#alive.map(({ port }) => untilRedis(port, command, says)))
  }
}
