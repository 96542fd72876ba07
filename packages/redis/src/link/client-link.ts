import type { RedisArgument, Client, ReplyForm, Server } from './client.ts'
import type { ConnectionStatus } from './connection-status.ts'
import type { Link, SubscriberConnection } from './link.ts'

/** A link to one server. */
export class ClientLink implements Link {
  readonly nodes = undefined
  readonly #client: Client
  readonly #isUsers: boolean

  /**
   * `isUsers`: not a client that the store has made. Its duplicates may connect while it cannot, or
   * is closed.
   */
  constructor(client: Client, isUsers: boolean = false) {
    this.#client = client
    this.#isUsers = isUsers
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
    if (!this.isReady && !this.#isUsers) return undefined
    return { client: this.#client.duplicate(), isCurrent: () => this.#isUsers || this.isOpen }
  }

  whenSubscribable(listener: () => void): () => void {
    if (!this.isReady && !(this.isOpen && this.#isUsers)) return this.status.onceReady(listener)
    listener()
    return () => undefined
  }
}
