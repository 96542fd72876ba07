import type { RedisArgument, Client, ReplyForm, Server } from './client.ts'
import type { ConnectionStatus } from './connection-status.ts'
import type { Link, SubscriberConnection } from './link.ts'

/** A link to one server. */
export class ClientLink implements Link {
  readonly nodes = undefined
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  get status(): ConnectionStatus {
    return this.#client.status
  }

  send(_key: string, args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    return this.#client.send(args, form)
  }

  inOrder<T>(_key: string, ask: (server: Server) => Promise<T>): Promise<T> {
    return ask(this.#client)
  }

  masters(): readonly Server[] {
    return [this.#client]
  }

  subscriberConnection(): SubscriberConnection | undefined {
    const { duplicatesReconnect, isReady } = this.#client
    // A duplicate that does not reconnect would end at once where its server is away.
    if (!duplicatesReconnect && !isReady) return undefined
    const isCurrent = (): boolean => duplicatesReconnect || this.#client.isOpen
    return { client: this.#client.duplicate(), mayReconnect: duplicatesReconnect, isCurrent }
  }

  whenSubscribable(listener: () => void): () => void {
    const { isOpen, isReady, duplicatesReconnect } = this.#client
    if (!isReady && !(isOpen && duplicatesReconnect)) return this.#client.status.onceReady(listener)
    listener()
    return () => undefined
  }
}
