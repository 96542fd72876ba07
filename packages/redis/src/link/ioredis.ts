import type { Runtime } from '@cattlegrid/core/extend'
import {
  type RedisArgument,
  type ClientEvent,
  type ConnectableClient,
  type ReplyForm,
  ShardedUnsupportedError,
} from './client.ts'
import { reasonOf } from './connection-error.ts'
import { ConnectionStatus } from './connection-status.ts'
import { OwnClient } from './own-client.ts'
import { type Emitter, listen, unlisten } from './shared-listeners.ts'

/**
 * The part of a client of ioredis 5 or 6 (`new Redis()`, also by Sentinel), or of iovalkey, that the
 * store uses.
 */
export interface IoRedis {
  /** `wait`, `connecting`, `connect`, `ready`, `close`, `reconnecting` or `end`. */
  readonly status: string
  readonly options: object
  /** The socket of the present connection. */
  readonly stream?: { unref(): unknown }
  call(command: string, ...args: RedisArgument[]): Promise<unknown>
  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown>
  subscribe(...channels: string[]): Promise<unknown>
  ssubscribe?(...channels: string[]): Promise<unknown>
  duplicate(override?: object): IoRedis
  connect(): Promise<unknown>
  quit(): Promise<unknown>
  disconnect(): void
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown
}

/**
 * The settings of a client that the store makes from the user's. By default, ioredis sends unanswered
 * commands once more after it has reconnected, at an unknown later time: an entry that was deleted meanwhile
 * would be written again. A prefix, numbers as text or a timer per command would change what the store sends
 * or gets.
 */
export const OWN_SETTINGS: Readonly<Record<string, unknown>> = {
  lazyConnect: true,
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  // It would give the connection up, and what was asked over it, before another one stands.
  reconnectOnError: null,
  // The store reconnects, by timers that do not keep the process alive.
  retryStrategy: null,
  autoResubscribe: false,
  enableAutoPipelining: false,
  commandTimeout: undefined,
  socketTimeout: undefined,
  // One sentinel may be frozen.
  sentinelCommandTimeout: 1000,
  // For the ten seconds of a planned failover, the demoted master takes writes that nobody else will see.
  failoverDetector: true,
  keepAlive: 5000,
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy',
  showFriendlyErrorStack: false,
  // A replica may lag behind an acknowledged invalidation.
  role: 'master',
  readOnly: false,
}

/** A client that the store has made by ioredis or iovalkey, with OWN_SETTINGS. */
export class IoRedisClient implements ConnectableClient {
  readonly status: ConnectionStatus = new ConnectionStatus()
  readonly #client: IoRedis
  #listensToShards = false

  constructor(client: IoRedis) {
    this.#client = client
    client.on('ready', () => this.status.ready())
    client.on('error', (error) => this.status.failed(error))
  }

  get isOpen(): boolean {
    const { status } = this.#client
    return status !== 'wait' && status !== 'end'
  }

  get isReady(): boolean {
    return this.#client.status === 'ready'
  }

  send(args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    return callIoRedis(this.#client, args, form)
  }

  duplicate(): ConnectableClient {
    return duplicateIoRedis(this.#client)
  }

  on(event: ClientEvent, listener: (...args: unknown[]) => void): void {
    listen(this.#client, event, listener)
  }

  off(event: ClientEvent, listener: (...args: unknown[]) => void): void {
    unlisten(this.#client, event, listener)
  }

  connect(): Promise<unknown> {
    return this.#client.connect()
  }

  subscribe(channel: string, listener: (message: string) => void): Promise<unknown> {
    this.#client.on('message', (_channel, message) => listener(String(message)))
    return this.#client.subscribe(channel)
  }

  /**
   * Older versions take the reply for that of any other command: they return it as it is, and no message
   * would arrive.
   */
  async subscribeSharded(channel: string, listener: (message: string) => void): Promise<unknown> {
    if (!this.#listensToShards) this.#client.on('smessage', (_channel, message) => listener(String(message)))
    this.#listensToShards = true
    const channels = await this.#client.ssubscribe?.(channel)
    if (typeof channels !== 'number') throw new ShardedUnsupportedError('This ioredis has no sharded channels')
    return channels
  }

  close(): Promise<unknown> {
    return this.#client.quit()
  }

  destroy(): void {
    disconnect(this.#client)
  }
}

export function callIoRedis(
  client: Pick<IoRedis, 'call' | 'callBuffer'>,
  [command = '', ...args]: readonly RedisArgument[],
  form: ReplyForm,
): Promise<unknown> {
  // A cluster finds the keys of a command by its name in lower case.
  const name = String(command).toLowerCase()
  return form === 'bytes' ? client.callBuffer(name, ...args) : client.call(name, ...args)
}

/** A client of the same server, or of the same Sentinel, as the user's: not yet connected. */
function duplicateIoRedis(client: IoRedis): ConnectableClient {
  return new IoRedisClient(unrefOnConnect(client.duplicate(OWN_SETTINGS)))
}

/** ioredis starts a timer that keeps the process alive, even for a client that has ended. */
export function disconnect(client: Pick<IoRedis, 'status' | 'disconnect'>): void {
  if (client.status !== 'end') client.disconnect()
}

/** The clients by which a failover detector subscribes to the sentinels: no public member names them. */
function subscribersOf(client: object): readonly { readonly client: IoRedis }[] {
  const { connector } = client as {
    readonly connector?: {
      readonly failoverDetector?: { readonly sentinels?: readonly { readonly client: IoRedis }[] } | null
    }
  }
  return connector?.failoverDetector?.sentinels ?? []
}

/** Only the user's client may keep the process alive. */
export function unrefOnConnect(client: IoRedis): IoRedis {
  client.on('connect', () => {
    client.stream?.unref()
    for (const { client: sentinel } of subscribersOf(client)) {
      unrefOnConnect(sentinel)
      // Without a listener, ioredis prints each error, such as of a sentinel that is down.
      sentinel.on('error', () => undefined)
    }
  })
  return client
}

/**
 * Makes a client with the settings of the user's, which is connected as long as the user's is open.
 * `maxSilence`: as `OwnClientSetup`. `warn` is called once if it cannot connect, although the user's has.
 */
export function ownIoRedis(
  source: IoRedis,
  runtime: Runtime,
  maxSilence: number | false,
  warn: (message: string) => void,
): OwnClient {
  // Each time by the settings of that moment: a password may have changed.
  const make = (): ConnectableClient => duplicateIoRedis(source)
  const onUnreachable = (error: unknown, attempts: number): boolean => {
    // The first may have been lost on its way; a second one is refused.
    if (source.status !== 'ready' || attempts === 1) return false
    warn(
      `Redis accepts no further connection with the settings of your client (${reasonOf(error)}), and the store needs two. Until then, each process loads on its own.`,
    )
    return true
  }
  const own = new OwnClient({ runtime, maxSilence, make, duplicate: make, onClose: () => part(), onUnreachable })
  const part = openWith(source, own)
  return own
}

/** What the store opens and suspends with a user's client. */
interface Suspendable {
  open(): void
  suspend(): void
}

/**
 * Opens the store's own connection whenever the user's client connects, and suspends it when that has ended:
 * only the user's client may keep the process alive. Returns a function that parts the two.
 */
export function openWith(source: Emitter & { readonly status: string }, own: Suspendable): () => void {
  if (source.status !== 'wait' && source.status !== 'end') own.open()
  const open = (): void => own.open()
  const suspend = (): void => own.suspend()
  const removals = [
    listen(source, 'connecting', open),
    listen(source, 'end', suspend),
    // A cluster that is closed while it reconnects never ends.
    listen(source, 'disconnecting', suspend),
  ]
  return () => {
    for (const remove of removals) remove()
  }
}
