import type { Runtime } from '@cattlegrid/core'
import { type Argument, type RedisClient, type SendOptions, withSendOptions } from '../redis-client.ts'
import { keySlot } from './key-slot.ts'
import { type SubscriberConnection, type KeyGroup, type Link, NotExecutedError, type Server } from './link.ts'

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
    args: readonly Argument[],
    options?: SendOptions,
  ): Promise<unknown>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
}

/**
 * A link to a cluster. It sends each command directly to the client of the slot's master. That costs half of what the cluster object costs and keeps
 * two commands in one write. When a slot has moved, the cluster object follows the redirection.
 */
export class ClusterLink implements Link {
  readonly sharded = true
  readonly #cluster: RedisCluster
  readonly #runtime: Runtime
  readonly #servers = new WeakMap<RedisClient, Server>()

  constructor(cluster: RedisCluster, runtime: Runtime) {
    this.#cluster = cluster
    this.#runtime = runtime
  }

  get isOpen(): boolean {
    return this.#cluster.isOpen
  }

  /** True when some master is known. `send` fails if the master of the key is not connected. */
  get isReady(): boolean {
    return this.#cluster.isOpen && this.#cluster.masters.length > 0
  }

  async send(key: string, args: readonly Argument[], options: SendOptions): Promise<unknown> {
    try {
      return await this.#masterOf(key).sendCommand(args, options)
    } catch (error) {
      if (!hasMoved(error)) throw error
      return await this.#cluster.sendCommand(key, false, args, options)
    }
  }

  async inOrder<T>(key: string, ask: (server: Server) => Promise<T>): Promise<T> {
    try {
      return await ask(this.#masterOf(key))
    } catch (error) {
      if (!hasMoved(error)) throw error
      return await ask(this.#follow(key))
    }
  }

  masters(): readonly Server[] {
    return this.#cluster.masters.map((node) => this.#clientOf(node))
  }

  grouped(keys: readonly Buffer[]): readonly KeyGroup[] {
    return keys.map((key) => [key])
  }

  subscriberConnection(): SubscriberConnection | undefined {
    // A message published on any node reaches all nodes; a random choice spreads the processes over them.
    const nodes = this.#cluster.isOpen ? this.#cluster.masters.filter(({ client }) => client?.isReady === true) : []
    const node = nodes[Math.floor(this.#runtime.random() * nodes.length)]
    if (node?.client === undefined) return undefined
    const { address, client } = node
    const isCurrent = (): boolean => this.#cluster.masters.some((master) => master.address === address)
    return { client: client.duplicate(), reconnects: false, isCurrent }
  }

  whenOpen(listener: () => void): () => void {
    if (this.isReady) {
      listener()
      return () => undefined
    }
    const opened = (): void => {
      cancel()
      listener()
    }
    const cancel = (): void => void this.#cluster.off('connect', opened)
    this.#cluster.on('connect', opened)
    return cancel
  }

  #masterOf(key: string): Server {
    const master = this.#cluster.slots[keySlot(key)]?.master
    if (master === undefined) throw new NotExecutedError('No node of the cluster serves the slot of the key')
    return this.#clientOf(master)
  }

  #clientOf(node: ClusterNode): Server {
    const { client } = node
    // With `minimizeConnections` the node has no client yet: this step fails, and a later one finds the connection.
    if (client === undefined) void this.#connect(node)
    if (client?.isReady !== true) throw new NotExecutedError(`The cluster's node ${node.address} is not connected`)
    let server = this.#servers.get(client)
    if (server === undefined) this.#servers.set(client, (server = withSendOptions(client)))
    return server
  }

  async #connect(node: ClusterNode): Promise<void> {
    try {
      await this.#cluster.nodeClient(node as never)
    } catch {
      // The step that needed the connection has already failed.
    }
  }

  /** Sends commands through the cluster object, one after the other: each may be redirected, so two at once could be executed in the wrong order. */
  #follow(key: string): Server {
    let last: Promise<unknown> = Promise.resolve()
    return {
      sendCommand: (args, options) => (last = last.then(() => this.#cluster.sendCommand(key, false, args, options))),
    }
  }
}

/** True if the server answered that the slot has moved or is moving to another node. */
function hasMoved(error: unknown): boolean {
  return error instanceof Error && /^(?:MOVED|ASK) /.test(error.message)
}
