import type { Argument, RedisClient, SendOptions } from '../redis-client.ts'
import { type SubscriberConnection, type KeyGroup, type Link, oneGroup, type Server } from './link.ts'

/** The part of a node-redis Sentinel (`createSentinel()` of `redis` 5.1+ or 6) that the store uses. */
export interface RedisSentinel {
  readonly isOpen: boolean
  readonly isReady: boolean
  /** Undefined while no connection to a master is ready. */
  getMasterNode(): { readonly host: string; readonly port: number } | undefined
  sendCommand(isReadonly: boolean, args: readonly Argument[], options?: SendOptions): Promise<unknown>
  /** Runs `run` with the client of the master: at once, where a connection is reserved and ready. */
  _execute(isReadonly: boolean, run: (client: RedisClient) => Promise<unknown>): Promise<unknown>
  /** From `redis` 6 on. */
  duplicate?(): unknown
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
}

interface SentinelOptions {
  readonly reserveClient?: boolean
}

/** The master that Sentinel names. */
export class SentinelLink implements Link {
  readonly #sentinel: RedisSentinel

  constructor(sentinel: RedisSentinel) {
    this.#sentinel = sentinel
  }

  get isOpen(): boolean {
    return this.#sentinel.isOpen
  }

  /** Without a master the Sentinel object keeps a command until it has found one, and asks the sentinels for it without a pause. */
  get isReady(): boolean {
    return this.#sentinel.isReady && this.#sentinel.getMasterNode() !== undefined
  }

  send(_key: string, args: readonly Argument[], options: SendOptions): Promise<unknown> {
    return this.#sentinel.sendCommand(false, args, options)
  }

  inOrder<T>(_key: string, ask: (server: Server) => Promise<T>): Promise<T> {
    return ask(this.#server)
  }

  masters(): readonly Server[] {
    const begun = this.#address()
    const sendCommand: Server['sendCommand'] = (args, options) => {
      // A cursor means nothing to another server.
      if (this.#address() !== begun) throw new Error('Sentinel has changed the master meanwhile')
      return this.#server.sendCommand(args, options)
    }
    return [{ sendCommand: async (args, options) => await sendCommand(args, options) }]
  }

  grouped(keys: readonly Buffer[]): readonly KeyGroup[] {
    return oneGroup(keys)
  }

  subscriberConnection(): SubscriberConnection | undefined {
    const client = this.#reservedClient()?.duplicate()
    if (client === undefined) return undefined
    const address = this.#address()
    return { client, returns: false, isCurrent: () => this.#address() === address }
  }

  whenOpen(listener: () => void): () => void {
    if (this.isReady) {
      listener()
      return () => undefined
    }
    const opened = (): void => {
      withdraw()
      listener()
    }
    // `ready` is told from version 6 on; the first topology is a change in both.
    const events = ['ready', 'topology-change']
    const withdraw = (): void => {
      for (const event of events) this.#sentinel.off(event, opened)
    }
    for (const event of events) this.#sentinel.on(event, opened)
    return withdraw
  }

  readonly #server: Server = {
    sendCommand: (args, options) => this.#sentinel.sendCommand(false, args, options),
  }

  #reservedClient(): RedisClient | undefined {
    if (!this.isReady) return undefined
    let reserved: RedisClient | undefined
    const note = async (client: RedisClient): Promise<void> => void (reserved = client)
    this.#sentinel._execute(false, note).catch(() => undefined)
    return reserved
  }

  #address(): string {
    const { host, port } = this.#sentinel.getMasterNode() ?? { host: '', port: 0 }
    return `${host}:${port}`
  }
}

/**
 * Whether a Sentinel object keeps one connection for its commands. One that does not takes it from a pool for each burst, and the taking is
 * no atomic step: with one connection a burst is several times slower, with more of them it may hang for ever. True when nobody can tell, as with `redis` 5.
 */
export function keepsConnection(sentinel: RedisSentinel): boolean {
  return optionsOf(sentinel)?.reserveClient ?? optionsOf(sentinel) === undefined
}

/**
 * What the user gave to `createSentinel`. The object shows it to nobody but the constructor of its duplicate, so one of ours takes that
 * constructor's place. Undefined with `redis` 5, which does not duplicate, and should node-redis one day do so in another way.
 */
function optionsOf(sentinel: RedisSentinel): SentinelOptions | undefined {
  let options: SentinelOptions | undefined
  const constructor = function (given: SentinelOptions): void {
    options = given
  }
  try {
    const prototype: unknown = Object.create(sentinel, { constructor: { value: constructor } })
    const disguised = Object.create(prototype as object) as RedisSentinel
    disguised.duplicate?.()
  } catch {
    return undefined
  }
  return options
}
