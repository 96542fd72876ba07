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
  /** By the client of a node: node-redis replaces one that has ended. */
  readonly #clients = new WeakMap<RedisClient, Client>()
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
    return this.#cluster.masters.map(this.#master)
  }

  masterOf(slot: number): ClusterMaster | undefined {
    const node = this.#cluster.slots[slot]?.master
    return node && this.#master(node)
  }

  /**
   * With `minimizeConnections` a node has no client at first. node-redis searches for a new topology
   * by itself.
   */
  connectTo(master: ClusterMaster | undefined): void {
    const node = this.#cluster.masters.find(({ address }) => address === master?.address)
    if (node !== undefined && node.client === undefined) void this.#connect(node)
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

  readonly #master = ({ address, client }: ClusterNode): ClusterMaster => ({
    address,
    client: client && (this.#clients.get(client) ?? this.#clientOf(client)),
  })

  #clientOf(client: RedisClient): Client {
    const { used, close } = userClient(client, this.#runtime, this.#maxSilence)
    const end = (): unknown => {
      remove()
      this.#ends.delete(end)
      return close()
    }
    const remove = listen(client, 'end', end)
    this.#ends.add(end)
    this.#clients.set(client, used)
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
