import type { Runtime } from '@cattlegrid/core/extend'
import type { LinkNodes } from '../../link/link.ts'
import { ShardConnection } from './shard-connection.ts'

export interface ShardConnectionsSetup {
  readonly nodes: LinkNodes
  readonly runtime: Runtime
  /** How long a server may answer nothing before its connection ends, ms. */
  readonly maxSilence: number | false
  readonly onMessage: (message: string) => void
  /** Called when a server has ended the subscription to a channel, because its slot has moved. */
  readonly onMoved: (channel: string, connection: ShardConnection) => void
  /** Called when a connection is lost, and no longer among these. */
  readonly onEnd: (address: string, connection: ShardConnection) => void
}

/** The connections for sharded channels: one a master, opened when it is first needed. */
export class ShardConnections {
  readonly #setup: ShardConnectionsSetup
  /** By address. */
  readonly #connections = new Map<string, ShardConnection>()

  constructor(setup: ShardConnectionsSetup) {
    this.#setup = setup
  }

  /** The connection to the master at an address; undefined while the cluster is not connected to that master. */
  connectionTo(address: string): ShardConnection | undefined {
    return this.#connections.get(address) ?? this.#open(address)
  }

  /** Closes the connections for which `isUsed` returns false. */
  closeUnused(isUsed: (connection: ShardConnection) => boolean): void {
    for (const [address, connection] of this.#connections) {
      if (isUsed(connection)) continue
      this.#connections.delete(address)
      connection.destroy()
    }
  }

  close(): void {
    this.closeUnused(() => false)
  }

  #open(address: string): ShardConnection | undefined {
    const { nodes, runtime, maxSilence, onMessage, onMoved, onEnd } = this.#setup
    const client = nodes.subscriberAt(address)
    if (client === undefined) return undefined
    const connection: ShardConnection = new ShardConnection({
      client,
      runtime,
      maxSilence,
      onMessage,
      onMoved: (channel) => onMoved(channel, connection),
      onEnd: () => {
        this.#connections.delete(address)
        onEnd(address, connection)
      },
    })
    this.#connections.set(address, connection)
    return connection
  }
}
