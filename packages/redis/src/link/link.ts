import { type Away, awayBecause } from '@cattlegrid/core/extend'
import type { RedisArgument, ConnectableClient, ReplyForm, Server } from './client.ts'
import { codeOf, reasonOf, toldError } from './connection-error.ts'
import type { ConnectionStatus } from './connection-status.ts'

/**
 * The error of a step that certainly had no effect in Redis: for example, because its server is
 * not connected.
 */
export class NotExecutedError extends Error {
  readonly code: string | undefined

  /** `reason`: the last error of the connection, if it is known. */
  constructor(problem: string, reason?: unknown) {
    const cause = toldError(reason)
    super(cause === undefined ? problem : `${problem}: ${reasonOf(cause)}`, cause === undefined ? {} : { cause })
    this.code = codeOf(cause)
  }
}

/** The answer of a step that failed. */
export function awayAfter(cause: unknown): Away {
  return awayBecause(toldError(cause), cause instanceof NotExecutedError ? 'disconnected' : 'error')
}

/** A client for wake-ups, not yet connected. The caller connects it and destroys it. */
export interface SubscriberConnection {
  readonly client: ConnectableClient
  /** False once published messages no longer reach the server that the client is connected to. */
  readonly isCurrent: () => boolean
}

/** The masters of a cluster. */
export interface LinkNodes {
  /** The address of the master of a key, by the key's name; `UNASSIGNED` while the cluster knows none. */
  addressOf(name: string): string
  /** The master at an address; undefined once the cluster has none there. */
  masterAt(address: string): Server | undefined
  /**
   * A client of the master at an address, not yet connected; undefined while the cluster is not connected to
   * that master. The caller destroys it.
   */
  subscriberAt(address: string): ConnectableClient | undefined
}

/** Stands for the address of a slot that no master serves. */
export const UNASSIGNED = 'unassigned'

/**
 * Hides what the user's client is connected to: one server, a cluster, or the master that Sentinel names. It
 * reads from masters only: a replica may lag behind an acknowledged invalidation.
 */
export interface Link {
  /** False while the user's client is not told to connect, or is closed. */
  readonly isOpen: boolean
  /** True if a command can be sent now. A queued command would be executed at an unknown later time. */
  readonly isReady: boolean
  /** Whether the connection has stood, and why it does not. */
  readonly status: ConnectionStatus
  /**
   * Sends a command to the master of `key`. Commands sent in the same tick arrive in order, unless the slot
   * has just moved.
   */
  send(key: string, args: readonly RedisArgument[], form: ReplyForm): Promise<unknown>
  /**
   * Calls `ask` with the master of `key`. Its commands are executed in order, even when the slot moves; `ask`
   * may be called twice.
   */
  inOrder<T>(key: string, ask: (server: Server) => Promise<T>): Promise<T>
  /** The nodes over which the keys are spread: a script cannot use any two keys. Undefined for one server. */
  readonly nodes: LinkNodes | undefined
  /** Every master. */
  masters(): readonly Server[]
  /** Returns undefined while no server is available. */
  subscriberConnection(): SubscriberConnection | undefined
  /**
   * Calls `listener` once, when `subscriberConnection` may return a connection: now or later. Returns a
   * function that cancels this.
   */
  whenSubscribable(listener: () => void): () => void
}
