import type { Runtime } from '@cattlegrid/core/extend'
import type { RedisArgument, Client, ReplyForm } from './client.ts'
import type { ClusterClient, ClusterMaster } from './cluster-link.ts'
import { ConnectionStatus } from './connection-status.ts'
import { type RedisClient, SEND_OPTIONS, type SendOptions } from './node-redis.ts'
import { listen, onceAny } from './shared-listeners.ts'
import { userClient } from './watched-client.ts'

/** A node of a cluster; node-redis creates its client when it is first needed. */
export interface ClusterNode {
  readonly address: string
  readonly client?: RedisClient | undefined
}

/** The part of a node-redis cluster (`createCluster()` of `redis` 5.1+ or 6) that the store uses. */
export interface RedisCluster {
  readonly isOpen: boolean
  readonly masters: readonly ClusterNode[]
  readonly slots: readonly { readonly master: ClusterNode }[]
  nodeClient(node: never): unknown
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean,
    args: readonly RedisArgument[],
    options?: SendOptions,
  ): Promise<unknown>
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown
}

/** A cluster of node-redis. */
export class NodeRedisCluster implements ClusterClient {
  readonly #cluster: RedisCluster
  readonly #runtime: Runtime
  readonly #maxSilence: number | false
  readonly #masters = new WeakMap<ClusterNode, NodeRedisMaster>()
  readonly status: ConnectionStatus = new ConnectionStatus()
  /** What ends with the store. */
  readonly #ends = new Set<() => unknown>()

  /** `maxSilence`: as of `WatchedClient`; false: no node is watched. */
  constructor(cluster: RedisCluster, runtime: Runtime, maxSilence: number | false) {
    this.#cluster = cluster
    this.#runtime = runtime
    this.#maxSilence = maxSilence
    const stands = (): boolean => cluster.masters.some(({ client }) => client?.isReady === true)
    this.#ends.add(this.status.follow(cluster, { ready: ['connect'], stands, isOne: false }))
  }

  get isOpen(): boolean {
    return this.#cluster.isOpen
  }

  masters(): readonly ClusterMaster[] {
    return this.#cluster.masters.map((node) => this.#masterAt(node))
  }

  masterOf(slot: number): ClusterMaster | undefined {
    const node = this.#cluster.slots[slot]?.master
    return node === undefined ? undefined : this.#masterAt(node)
  }

  /** With `minimizeConnections` a node has no client at first. node-redis searches for a new topology by itself. */
  connectTo(master: ClusterMaster | undefined): void {
    if (master instanceof NodeRedisMaster && master.client === undefined) void this.#connect(master.node)
  }

  sendRedirected(key: string, args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    return this.#cluster.sendCommand(key, false, args, SEND_OPTIONS[form])
  }

  onceReady(listener: () => void): () => void {
    return onceAny(this.#cluster, ['connect'], listener)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#ends].map((end) => end()))
  }

  #masterAt(node: ClusterNode): NodeRedisMaster {
    let master = this.#masters.get(node)
    if (master === undefined)
      this.#masters.set(node, (master = new NodeRedisMaster(node, (client) => this.#clientOf(client))))
    return master
  }

  #clientOf(client: RedisClient): Client {
    const { used, close } = userClient(client, this.#runtime, this.#maxSilence)
    const end = (): unknown => {
      remove()
      this.#ends.delete(end)
      return close()
    }
    const remove = listen(client, 'end', end)
    this.#ends.add(end)
    return used
  }

  async #connect(node: ClusterNode): Promise<void> {
    try {
      await this.#cluster.nodeClient(node as never)
    } catch {
      // The step that needed the connection has already failed.
    }
  }
}

/** node-redis replaces the client of a node that has ended. */
class NodeRedisMaster implements ClusterMaster {
  readonly node: ClusterNode
  readonly #clientOf: (client: RedisClient) => Client
  #source: RedisClient | undefined
  #client: Client | undefined

  constructor(node: ClusterNode, clientOf: (client: RedisClient) => Client) {
    this.node = node
    this.#clientOf = clientOf
  }

  get address(): string {
    return this.node.address
  }

  get client(): Client | undefined {
    const { client } = this.node
    if (client !== this.#source) {
      this.#source = client
      this.#client = client && this.#clientOf(client)
    }
    return this.#client
  }
}
