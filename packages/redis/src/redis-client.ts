import { RESP_TYPES } from 'redis'

export type Argument = string | Buffer

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

// Every command overrides the client's own options: a timer per command costs more than the command and does not stop one that was
// sent, `asap` would reverse the order of two commands, and a type mapping would change the replies.
const asWritten = { asap: false, timeout: undefined } as const
/** Returns bulk replies as strings. */
export const AS_TEXT: SendOptions = { ...asWritten, typeMapping: {} }
/** Returns bulk replies as bytes: a string would lose bytes that are not UTF-8. */
export const AS_BYTES: SendOptions = { ...asWritten, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } }

/**
 * The client as the store uses it. The store still passes options with each command, because `redis` 5 drops the type mapping of
 * `withCommandOptions`. `redis` 6 merges the two sets of options at each command; that is several times faster when the client has the same ones.
 */
export function withSendOptions(client: RedisClient): Pick<RedisClient, 'sendCommand'> {
  return client.withCommandOptions?.(AS_TEXT) ?? client
}

/** Resolves when the handshake is complete or the connection has failed. */
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

/** True for an error that the server replied with: it begins with a code such as READONLY. The errors of a client do not. */
export function isErrorReply(error: unknown): error is Error {
  return error instanceof Error && /^[A-Z]{2,} /.test(error.message)
}
