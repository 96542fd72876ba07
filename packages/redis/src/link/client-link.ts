import { type Argument, type RedisClient, type SendOptions, withSendOptions } from '../redis-client.ts'
import type { Watchdog } from '../watchdog.ts'
import { type SubscriberConnection, type KeyGroup, type Link, oneGroup, type Server } from './link.ts'

/** A link to one server. */
export class ClientLink implements Link {
  readonly sharded = false
  #source: RedisClient
  #client: Server
  readonly #watchdog: Watchdog | undefined

  /** `watchdog` watches every command; it is given when the store created the client. */
  constructor(client: RedisClient, watchdog?: Watchdog) {
    this.#source = client
    this.#client = withSendOptions(client)
    this.#watchdog = watchdog
  }

  /** Replaces the client. */
  use(client: RedisClient): void {
    this.#source = client
    this.#client = withSendOptions(client)
  }

  get isOpen(): boolean {
    return this.#source.isOpen
  }

  get isReady(): boolean {
    return this.#source.isReady
  }

  send(_key: string, args: readonly Argument[], options: SendOptions): Promise<unknown> {
    return this.sendCommand(args, options)
  }

  inOrder<T>(_key: string, ask: (server: Server) => Promise<T>): Promise<T> {
    return ask(this)
  }

  masters(): readonly Server[] {
    return [this]
  }

  sendCommand(args: readonly Argument[], options: SendOptions): Promise<unknown> {
    const reply = this.#client.sendCommand(args, options)
    this.#watchdog?.watch(reply)
    return reply
  }

  grouped(keys: readonly Buffer[]): readonly KeyGroup[] {
    return oneGroup(keys)
  }

  subscriberConnection(): SubscriberConnection {
    return { client: this.#source.duplicate(), reconnects: true, isCurrent: () => true }
  }

  whenOpen(listener: () => void): () => void {
    if (this.#source.isOpen) {
      listener()
      return () => undefined
    }
    const opened = (): void => {
      cancel()
      listener()
    }
    const cancel = (): void => void this.#source.off('ready', opened)
    this.#source.on('ready', opened)
    return cancel
  }
}
