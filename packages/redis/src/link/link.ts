import type { Argument, RedisClient, SendOptions } from '../redis-client.ts'

/** One server, or what leads to one. */
export interface Server {
  sendCommand(args: readonly Argument[], options: SendOptions): Promise<unknown>
}

export type KeyGroup = readonly [Buffer, ...(readonly Buffer[])]

/** A connection for the wake-ups, not yet connected: whoever asked for it connects and ends it. */
export interface SubscriberConnection {
  readonly client: RedisClient
  /** Whether it comes back by itself when it breaks. One to a server that may be gone for good is replaced. */
  readonly returns: boolean
  /** Whether what is published still arrives at the server that it listens to. */
  isCurrent(): boolean
}

/**
 * The only thing that knows what stands behind the user's client: one server, a cluster, or whichever server Sentinel calls master. It reads
 * from masters only, since a replica may lag behind an invalidation that was acknowledged.
 */
export interface Link {
  readonly isOpen: boolean
  /** Whether a command can be sent now: one that waits for a connection would be executed at a moment nobody knows. */
  readonly isReady: boolean
  /** Sends a command to the master of `key`. What is sent in one breath arrives in that order, unless the key has just moved. */
  send(key: string, args: readonly Argument[], options: SendOptions): Promise<unknown>
  /** Lets `ask` speak to the master of `key`; what it sends is executed in that order, whatever moves. It may be called twice. */
  inOrder<T>(key: string, ask: (server: Server) => Promise<T>): Promise<T>
  /** Each server that has keys of its own. */
  masters(): readonly Server[]
  /** Keys, in groups that one command may name. */
  grouped(keys: readonly Buffer[]): readonly KeyGroup[]
  /** Undefined while there is no server to listen to. */
  subscriberConnection(): SubscriberConnection | undefined
  /** Calls `listener` once, when the client is opened; at once when it is open. Returns what withdraws it. */
  whenOpen(listener: () => void): () => void
}

/** For a server that has all slots. */
export function oneGroup(keys: readonly Buffer[]): readonly KeyGroup[] {
  const [first, ...others] = keys
  return first === undefined ? [] : [[first, ...others]]
}
