import type { Runtime } from '@cattlegrid/core/extend'
import type { RedisArgument, ReplyForm } from './client.ts'
import type { ClusterClient, ClusterMaster } from './cluster-link.ts'
import { ConnectionStatus } from './connection-status.ts'
import {
  callIoRedis,
  disconnect,
  openWith,
  type IoRedis,
  IoRedisClient,
  OWN_SETTINGS,
  unrefOnConnect,
} from './ioredis.ts'
import { NotExecutedError } from './link.ts'
import { atMost, type Connectable, OwnConnection } from './own-connection.ts'

/** The part of a cluster of ioredis 5 or 6, or of iovalkey, that the store uses. */
export interface IoRedisCluster {
  readonly isCluster: boolean
  /** As of `IoRedis`; also `disconnecting`. */
  readonly status: string
  readonly options: object
  /** The addresses of the nodes of each slot, its master first. */
  readonly slots: readonly (readonly string[])[]
  nodes(role?: 'master'): readonly IoRedis[]
  call(command: string, ...args: RedisArgument[]): Promise<unknown>
  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown>
  refreshSlotsCache(): void
  duplicate(startupNodes?: never[], override?: object): IoRedisCluster
  connect(): Promise<unknown>
  quit(): Promise<unknown>
  disconnect(): void
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown
}

/** How often it looks for a new topology, ms: by default, ioredis looks for one only after a redirection. */
const TOPOLOGY_INTERVAL = 5000
/**
 * How long a new connection waits for all masters, ms: one that is frozen must not keep the others
 * from serving.
 */
const FIRST_CONNECTIONS = 1000

/**
 * A cluster of ioredis or iovalkey, by a client with the settings of the user's, which is connected as long
 * as the user's is open.
 */
export class OwnIoRedisCluster implements ClusterClient {
  readonly status: ConnectionStatus = new ConnectionStatus()
  readonly #connection: OwnConnection<MadeCluster>
  readonly #part: () => void

  constructor(source: IoRedisCluster, runtime: Runtime) {
    this.#connection = new OwnConnection({
      runtime,
      make: () => new MadeCluster(duplicateCluster(source), runtime, this.status),
    })
    this.#part = openWith(source, this.#connection)
  }

  get isOpen(): boolean {
    return this.#connection.isOpen
  }

  masters(): readonly ClusterMaster[] {
    return this.#connection.client?.masters() ?? []
  }

  masterOf(slot: number): ClusterMaster | undefined {
    return this.#connection.client?.masterOf(slot)
  }

  connectTo(master: ClusterMaster | undefined): void {
    this.#connection.client?.connectTo(master)
  }

  async sendRedirected(_key: string, args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    const { client } = this.#connection
    if (client === undefined)
      throw new NotExecutedError('The store has no connection to the cluster', this.status.error)
    return await client.send(args, form)
  }

  onceReady(listener: () => void): () => void {
    return this.status.onceReady(listener)
  }

  close(): Promise<void> {
    this.#part()
    return this.#connection.close()
  }
}

function duplicateCluster(source: IoRedisCluster): IoRedisCluster {
  const { redisOptions } = source.options as { readonly redisOptions?: object }
  const override = {
    lazyConnect: true,
    enableOfflineQueue: false,
    // It would ask a random node, which may be frozen.
    enableReadyCheck: false,
    enableAutoPipelining: false,
    keyPrefix: '',
    scaleReads: 'master',
    slotsRefreshInterval: TOPOLOGY_INTERVAL,
    // A command that is tried again later would be executed at an unknown time. A redirection is followed
    // at once.
    maxRedirections: 5,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    // The store connects again, by timers that do not keep the process alive.
    clusterRetryStrategy: null,
    clusterNodeRetryStrategy: null,
    redisOptions: { ...redisOptions, ...OWN_SETTINGS },
  }
  return source.duplicate([], override)
}

interface NodeMaster extends ClusterMaster {
  readonly node: IoRedis
}

/** A cluster object that the store has made. */
class MadeCluster implements Connectable {
  readonly #cluster: IoRedisCluster
  readonly #masters = new WeakMap<IoRedis, NodeMaster>()
  readonly #byAddress = new Map<string, NodeMaster>()
  readonly #runtime: Runtime
  readonly #status: ConnectionStatus
  #isReady = false

  constructor(cluster: IoRedisCluster, runtime: Runtime, status: ConnectionStatus) {
    this.#cluster = cluster
    this.#runtime = runtime
    this.#status = status
    cluster.on('error', (error) =>
      status.failed((error as { readonly lastNodeError?: unknown }).lastNodeError ?? error),
    )
    cluster.on('node error', (error) => status.note(error))
    cluster.on('-node', () => this.#byAddress.clear())
    cluster.on('refresh', () => {
      if (this.#isReady) for (const master of this.masters()) this.connectTo(master)
    })
  }

  /** Empty until the masters are connected. */
  masters(): readonly NodeMaster[] {
    return this.#isReady ? this.#knownMasters() : []
  }

  masterOf(slot: number): ClusterMaster | undefined {
    const address = this.#cluster.slots[slot]?.[0]
    if (address === undefined) return undefined
    const known = this.#byAddress.get(address)
    if (known !== undefined) return known
    const found = this.masters().find((master) => master.address === address)
    if (found !== undefined) this.#byAddress.set(address, found)
    return found
  }

  connectTo(master: ClusterMaster | undefined): void {
    const { node } = (master ?? {}) as Partial<NodeMaster>
    if (node?.status === 'wait') node.connect().catch(() => undefined)
    else if (master === undefined && this.#cluster.status === 'ready') this.#cluster.refreshSlotsCache()
  }

  send(args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    return callIoRedis(this.#cluster, args, form)
  }

  /**
   * Connects to the masters, too: ioredis connects to a node when the cluster object sends it a command, and
   * the store sends to the nodes themselves.
   */
  async connect(): Promise<void> {
    await this.#cluster.connect()
    const waiting = this.#knownMasters().filter(({ node }) => node.status === 'wait')
    await atMost(this.#runtime, FIRST_CONNECTIONS, Promise.allSettled(waiting.map(({ node }) => node.connect())))
    this.#isReady = true
    this.#status.ready()
  }

  close(): Promise<unknown> {
    return this.#cluster.quit()
  }

  destroy(): void {
    disconnect(this.#cluster)
  }

  on(event: 'ready' | 'end', listener: () => void): void {
    this.#cluster.on(event, listener)
  }

  #knownMasters(): readonly NodeMaster[] {
    return this.#cluster.nodes('master').map((node) => this.#masterAt(node))
  }

  #masterAt(node: IoRedis): NodeMaster {
    const known = this.#masters.get(node)
    if (known !== undefined) return known
    const { host, port } = node.options as { readonly host: string; readonly port: number }
    const master = { node, address: `${host}:${port}`, client: new IoRedisClient(unrefOnConnect(node)) }
    this.#masters.set(node, master)
    return master
  }
}
