import { RESP_TYPES } from 'redis'

export type Argument = string | Buffer

/** What a single command may say differently from its client. */
export interface SendOptions {
  readonly asap?: boolean | undefined
  readonly timeout?: number | undefined
  readonly typeMapping?: object | undefined
}

/** The part of a node-redis client (`createClient()` of `redis` 5.1+ or 6) that the store uses. */
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
 * The client as the store uses it. The options go with each command: `redis` 5 drops the type mapping of `withCommandOptions` when it sends a
 * command. `redis` 6 merges them with the client's at each command, several times faster where the client already has the same ones.
 */
export function withSendOptions(client: RedisClient): Pick<RedisClient, 'sendCommand'> {
  return client.withCommandOptions?.(AS_TEXT) ?? client
}

/** Settles when the server has greeted, or the connection is over. */
export function onceReady(client: RedisClient): Promise<void> {
  return new Promise((resolve) => {
    const events = ['ready', 'error', 'reconnecting', 'end']
    const settle = (): void => {
      for (const event of events) client.off(event, settle)
      resolve()
    }
    for (const event of events) client.on(event, settle)
  })
}
