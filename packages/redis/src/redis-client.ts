import type { Runtime } from '@cattlegrid/core'
import { createClient, RESP_TYPES } from 'redis'

export type Argument = string | Buffer

/** What a single command may say differently from its client. */
export interface SendOptions {
  readonly asap?: boolean | undefined
  readonly timeout?: number | undefined
  readonly typeMapping?: object | undefined
}

/** The part of a node-redis client (`createClient()` of `redis` 5 or 6) that the store uses. */
export interface RedisClient {
  readonly isOpen: boolean
  readonly isReady: boolean
  sendCommand(args: readonly Argument[], options?: SendOptions): Promise<unknown>
  withCommandOptions?(options: SendOptions): RedisClient
  duplicate(): RedisClient
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  destroy(): void
  close(): Promise<unknown>
  unref(): void
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
}

// Nothing is left to the client's own options: a timer for every command costs more than the command and does not end one that was
// written, `asap` would turn the order of two commands round, and a mapping of the user's would change the replies.
const asWritten = { asap: false, timeout: undefined } as const
/** Bulk replies as strings. */
export const AS_TEXT: SendOptions = { ...asWritten, typeMapping: {} }
/** Bulk replies as they are: text would lose bytes that are no UTF-8. */
export const AS_BYTES: SendOptions = { ...asWritten, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } }

/**
 * The client as the store uses it. For every command node-redis merges the client's options with the command's: where the two have the same
 * fields, that takes a fraction of the time.
 */
export function inOurShape(client: RedisClient): RedisClient {
  return client.withCommandOptions?.(AS_TEXT) ?? client
}

/** Why an object cannot serve as client; undefined when it can. */
export function unfit(client: object): string | undefined {
  if ('execute' in client)
    return 'a client, not a pool: a pool hands two commands to two connections, and the store relies on their order'
  if ('getSlotRandomNode' in client) return 'a single client: a cluster is not supported yet'
  if ('getSentinelNode' in client) return 'a single client: Sentinel is not supported yet'
  const lacks = (['sendCommand', 'duplicate', 'connect', 'on', 'off', 'unref'] as const).find(
    (name) => typeof (client as Record<string, unknown>)[name] !== 'function',
  )
  return lacks === undefined && 'isReady' in client
    ? undefined
    : 'a client of the redis package, version 5 or 6, made by createClient()'
}

/** A client of our own: never gives up, queues nothing while the server is gone, and waits for no reply with a timer. */
export function ownClient(url: string, runtime: Runtime): RedisClient {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: 2000,
      keepAliveInitialDelay: 5000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), 1000) + runtime.random() * 100,
    },
  })
  // Without a listener the first broken connection would end the process; what fails is told as `away`.
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  return client
}
