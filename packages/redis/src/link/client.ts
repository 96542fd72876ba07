import type { ConnectionStatus } from './connection-status.ts'

/** A word of a command. */
export type RedisArgument = string | Buffer

/**
 * How bulk replies are returned: as strings, or as bytes, because a string would lose those that are
 * not UTF-8.
 */
export type ReplyForm = 'text' | 'bytes'

/** Sends commands to one server. */
export interface Server {
  send(args: readonly RedisArgument[], form: ReplyForm): Promise<unknown>
}

/** A client of one server, whichever package made it. Commands sent in the same tick arrive in order. */
export interface Client extends Server {
  /** False before it is told to connect, and after it is closed. */
  readonly isOpen: boolean
  /** True if a command is sent at once. */
  readonly isReady: boolean
  /** Whether its connection has stood, and why it does not. */
  readonly status: ConnectionStatus
  /** Makes a client of the same server with the same settings, not yet connected. */
  duplicate(): ConnectableClient
}

/** A client with all that its maker needs: only that connects and destroys it. */
export interface ConnectableClient extends Client {
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  /**
   * Subscribes to a sharded channel, whose messages reach only the node of its slot. Every call names the
   * same listener.
   */
  subscribeSharded(channel: string, listener: (message: string) => void): Promise<unknown>
  /** Waits for the replies to commands already sent. */
  close(): Promise<unknown>
  destroy(): void
  on(event: ClientEvent, listener: (...args: unknown[]) => void): unknown
  off(event: ClientEvent, listener: (...args: unknown[]) => void): unknown
}

/**
 * `connect`: the handshake begins. `end`: the client does not connect again. `moved`: the server has ended
 * the subscription to a sharded channel; the channel is the argument, unless the client does not tell it.
 */
export type ClientEvent = 'connect' | 'ready' | 'error' | 'reconnecting' | 'end' | 'moved'

/** The error of a client that has no sharded channels. */
export class ShardedUnsupportedError extends Error {}

/** Resolves when the handshake is complete or the connection has failed. */
export function handshakeOf(client: ConnectableClient): Promise<void> {
  return new Promise((resolve) => {
    const events: readonly ClientEvent[] = ['ready', 'error', 'reconnecting', 'end']
    const settle = (): void => {
      for (const event of events) client.off(event, settle)
      resolve()
    }
    for (const event of events) client.on(event, settle)
  })
}
