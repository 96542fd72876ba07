import type { RedisArgument, ReplyForm, Server } from './client.ts'
import { ConnectionStatus } from './connection-status.ts'
import type { SubscriberConnection, Link } from './link.ts'
import { NodeRedisClient, type RedisClient, SEND_OPTIONS, type SendOptions } from './node-redis.ts'
import { onceAny } from './shared-listeners.ts'

/** The part of a node-redis Sentinel (`createSentinel()` of `redis` 5.1+ or 6) that the store uses. */
export interface RedisSentinel {
  readonly isOpen: boolean
  readonly isReady: boolean
  /** Undefined while no connection to a master is ready. */
  getMasterNode(): { readonly host: string; readonly port: number } | undefined
  sendCommand(isReadonly: boolean, args: readonly RedisArgument[], options?: SendOptions): Promise<unknown>
  /** Runs `run` with the client of the master: at once, where a connection is reserved and ready. */
  _execute(isReadonly: boolean, run: (client: RedisClient) => Promise<unknown>): Promise<unknown>
  /** Since `redis` 6. */
  duplicate?(): unknown
  on(event: string | symbol, listener: (...args: unknown[]) => void): unknown
  off(event: string | symbol, listener: (...args: unknown[]) => void): unknown
}

interface SentinelOptions {
  readonly reserveClient?: boolean
}

/** `redis` 6 emits `ready`; both versions emit `topology-change` for the first topology. */
const READY = ['ready', 'topology-change']

/** A link to the master that Sentinel names. */
export class SentinelLink implements Link {
  readonly nodes = undefined
  readonly status: ConnectionStatus = new ConnectionStatus()
  readonly #unfollow: () => void
  readonly #sentinel: RedisSentinel

  constructor(sentinel: RedisSentinel) {
    this.#sentinel = sentinel
    this.#unfollow = this.status.follow(sentinel, { ready: READY, stands: () => this.isReady, isOne: false })
  }

  get isOpen(): boolean {
    return this.#sentinel.isOpen
  }

  /**
   * Without a master, the Sentinel object would queue a command and query the sentinels in a loop without
   * a delay.
   */
  get isReady(): boolean {
    return this.#sentinel.isReady && this.#sentinel.getMasterNode() !== undefined
  }

  send(_key: string, args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    return this.#server.send(args, form)
  }

  inOrder<T>(_key: string, ask: (server: Server) => Promise<T>): Promise<T> {
    return ask(this.#server)
  }

  masters(): readonly Server[] {
    const startAddress = this.#address()
    const send: Server['send'] = async (args, form) => {
      // A SCAN cursor is valid only on the server that returned it.
      if (this.#address() !== startAddress)
        throw new Error('Sentinel named another master during the scan; call clear again')
      return await this.#server.send(args, form)
    }
    return [{ send }]
  }

  subscriberConnection(): SubscriberConnection | undefined {
    const reserved = this.#reservedClient()
    if (reserved === undefined) return undefined
    const client = new NodeRedisClient(reserved).duplicate()
    const address = this.#address()
    return { client, isCurrent: () => this.#address() === address }
  }

  whenSubscribable(listener: () => void): () => void {
    if (!this.isReady) return onceAny(this.#sentinel, READY, listener)
    listener()
    return () => undefined
  }

  async close(): Promise<void> {
    this.#unfollow()
  }

  readonly #server: Server = {
    send: (args, form) => this.#sentinel.sendCommand(false, args, SEND_OPTIONS[form]),
  }

  #reservedClient(): RedisClient | undefined {
    if (!this.isReady) return undefined
    let reserved: RedisClient | undefined
    const note = async (client: RedisClient): Promise<void> => void (reserved = client)
    // It calls `note` before it returns.
    this.#sentinel._execute(false, note).catch(() => undefined)
    return reserved
  }

  #address(): string {
    const { host, port } = this.#sentinel.getMasterNode() ?? { host: '', port: 0 }
    return `${host}:${port}`
  }
}

/**
 * True if a Sentinel object reserves a connection for its commands. Otherwise it takes one from its pool for
 * each burst of commands, and that is not atomic: with one connection a burst is several times slower; with
 * more, it may hang forever. Returns true when this is unknown, as with `redis` 5.
 */
export function reservesConnection(sentinel: RedisSentinel): boolean {
  const options = optionsOf(sentinel)
  return options === undefined || options.reserveClient === true
}

/**
 * The options that the user passed to `createSentinel`. The object passes them only to the constructor of its
 * duplicate, so this function replaces that constructor on a derived object. Returns undefined with `redis`
 * 5, which has no `duplicate`, or if a later node-redis duplicates differently.
 */
function optionsOf(sentinel: RedisSentinel): SentinelOptions | undefined {
  let options: SentinelOptions | undefined
  const constructor = function (given: SentinelOptions): void {
    options = given
  }
  try {
    // `duplicate` takes the constructor of its prototype.
    const prototype: unknown = Object.create(sentinel, { constructor: { value: constructor } })
    const derived = Object.create(prototype as object) as RedisSentinel
    derived.duplicate?.()
  } catch {
    return undefined
  }
  return options
}
