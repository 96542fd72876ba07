import type { Runtime } from '@cattlegrid/core'
import { type Argument, type RedisClient, type SendOptions, withSendOptions } from '../redis-client.ts'
import { keySlot } from './key-slot.ts'
import type { SubscriberConnection, KeyGroup, Link, Server } from './link.ts'

/** A node of a cluster; it has a client once somebody needed one. */
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
 * A cluster. Commands go straight to the client of the slot's master, which costs half of what the cluster object does, and keeps two in one
 * write; where a key has moved, the cluster object follows it.
 */
export class ClusterLink implements Link {
  readonly #cluster: RedisCluster
  readonly #runtime: Runtime
  readonly #shaped = new WeakMap<RedisClient, Server>()

  constructor(cluster: RedisCluster, runtime: Runtime) {
    this.#cluster = cluster
    this.#runtime = runtime
  }

  get isOpen(): boolean {
    return this.#cluster.isOpen
  }

  /** Some of it: whether a key's own master is, `send` finds out. */
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
    // Any node hears what is published at any other; a fleet spreads over them.
    const nodes = this.#cluster.isOpen ? this.#cluster.masters.filter(({ client }) => client?.isReady === true) : []
    const node = nodes[Math.floor(this.#runtime.random() * nodes.length)]
    if (node?.client === undefined) return undefined
    const { address, client } = node
    const isCurrent = (): boolean => this.#cluster.masters.some((master) => master.address === address)
    return { client: client.duplicate(), returns: false, isCurrent }
  }

  whenOpen(listener: () => void): () => void {
    if (this.isReady) {
      listener()
      return () => undefined
    }
    const opened = (): void => {
      withdraw()
      listener()
    }
    const withdraw = (): void => void this.#cluster.off('connect', opened)
    this.#cluster.on('connect', opened)
    return withdraw
  }

  #masterOf(key: string): Server {
    const master = this.#cluster.slots[keySlot(key)]?.master
    if (master === undefined) throw new Error('No node of the cluster serves the slot')
    return this.#clientOf(master)
  }

  #clientOf(node: ClusterNode): Server {
    const { client } = node
    // Nobody has needed it so far (`minimizeConnections`): the next step finds it.
    if (client === undefined) void this.#connect(node)
    if (client?.isReady !== true) throw new Error(`The cluster's node ${node.address} is not connected`)
    let shaped = this.#shaped.get(client)
    if (shaped === undefined) this.#shaped.set(client, (shaped = withSendOptions(client)))
    return shaped
  }

  async #connect(node: ClusterNode): Promise<void> {
    try {
      await this.#cluster.nodeClient(node as never)
    } catch {
      // The step that needed it has failed anyway.
    }
  }

  /** Each command by itself may be sent on, to another node than the one before: so one waits for the other. */
  #follow(key: string): Server {
    let last: Promise<unknown> = Promise.resolve()
    return {
      sendCommand: (args, options) => (last = last.then(() => this.#cluster.sendCommand(key, false, args, options))),
    }
  }
}

/** The slot has moved to another node, or is being moved. */
function hasMoved(error: unknown): boolean {
  return error instanceof Error && /^(?:MOVED|ASK) /.test(error.message)
}
