import type { Runtime } from '@cattlegrid/core/extend'
import {
  type RedisArgument,
  type ClientEvent,
  type ConnectableClient,
  type ReplyForm,
  ShardedUnsupportedError,
} from './client.ts'
import { ConnectionStatus } from './connection-status.ts'
import { listen, unlisten } from './shared-listeners.ts'

/** The options of a single command, which override those of its client. */
export interface SendOptions {
  readonly asap?: boolean | undefined
  readonly timeout?: number | undefined
  readonly typeMapping?: object | undefined
}

/** The part of a node-redis client (`createClient()` of `redis` 5.1+ or 6) that the store uses. */
export interface RedisClient {
  readonly isOpen: boolean
  readonly isReady: boolean
  sendCommand(args: readonly RedisArgument[], options?: SendOptions): Promise<unknown>
  withCommandOptions?(options: SendOptions): RedisClient
  duplicate(): RedisClient
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  sSubscribe?(channel: string, listener: (message: string) => void): Promise<unknown>
  destroy(): void
  close(): Promise<unknown>
  unref(): void
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown
}

/** node-redis' number for the type of bulk replies: the code of `$`. */
const BLOB_STRING = 36

// Every command overrides the client's own options: a timer per command costs more than the command and does
// not stop one that was sent, `asap` would reverse the order of two commands, and a type mapping would change
// the replies.
const asWritten = { asap: false, timeout: undefined } as const

/** The options of a command, by the form of its reply. */
export const SEND_OPTIONS: Readonly<Record<ReplyForm, SendOptions>> = {
  text: { ...asWritten, typeMapping: {} },
  bytes: { ...asWritten, typeMapping: { [BLOB_STRING]: Buffer } },
}

/** node-redis' names of events, where they differ. */
const EVENT_NAMES: Readonly<Partial<Record<ClientEvent, string>>> = { moved: 'sharded-channel-moved' }

/** A client of node-redis. */
export class NodeRedisClient implements ConnectableClient {
  readonly status: ConnectionStatus
  readonly #client: RedisClient
  readonly #sender: Pick<RedisClient, 'sendCommand'>

  /**
   * `status`: that of a user's client, which is followed. The store follows the clients that it makes
   * by itself.
   */
  constructor(client: RedisClient, status: ConnectionStatus = new ConnectionStatus()) {
    this.#client = client
    this.status = status
    // The options still come with each command, because `redis` 5 drops the type mapping of
    // `withCommandOptions`. `redis` 6 merges the two sets of options at each command; that is several times
    // faster when the client has the same ones.
    this.#sender = client.withCommandOptions?.(SEND_OPTIONS.text) ?? client
  }

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  send(args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    return this.#sender.sendCommand(args, SEND_OPTIONS[form])
  }

  duplicate(): ConnectableClient {
    const duplicate = this.#client.duplicate()
    // Only the user's client may keep the process alive.
    duplicate.unref()
    return new NodeRedisClient(duplicate)
  }

  on(event: ClientEvent, listener: (...args: unknown[]) => void): void {
    listen(this.#client, EVENT_NAMES[event] ?? event, listener)
  }

  off(event: ClientEvent, listener: (...args: unknown[]) => void): void {
    unlisten(this.#client, EVENT_NAMES[event] ?? event, listener)
  }

  connect(): Promise<unknown> {
    return this.#client.connect()
  }

  subscribe(channel: string, listener: (message: string) => void): Promise<unknown> {
    return this.#client.subscribe(channel, listener)
  }

  async subscribeSharded(channel: string, listener: (message: string) => void): Promise<unknown> {
    if (this.#client.sSubscribe === undefined) throw new ShardedUnsupportedError('The Redis client has no sSubscribe')
    return await this.#client.sSubscribe(channel, listener)
  }

  close(): Promise<unknown> {
    return this.#client.close()
  }

  destroy(): void {
    try {
      this.#client.destroy()
    } catch {
      // The client is already closed.
    }
  }
}

/**
 * Makes a client that always reconnects, queues nothing while it is disconnected, and has no timer
 * per command.
 */
export function makeNodeRedis(
  createClient: (options: object) => RedisClient,
  url: string,
  runtime: Runtime,
  connectTimeout: number,
): ConnectableClient {
  return new NodeRedisClient(
    createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: 10_000,
      maintNotifications: 'disabled',
      socket: {
        connectTimeout,
        keepAliveInitialDelay: 5000,
        reconnectStrategy: (retries: number) =>
          Math.min(50 * 2 ** Math.min(retries, 10), 1000) + runtime.random() * 100,
      },
    }),
  )
}
