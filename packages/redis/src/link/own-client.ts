import type { Runtime } from '@cattlegrid/core/extend'
import { type RedisArgument, type Client, handshakeOf, type ConnectableClient, type ReplyForm } from './client.ts'
import { codeOf } from './connection-error.ts'
import { ConnectionStatus } from './connection-status.ts'
import { NotExecutedError } from './link.ts'
import { OwnConnection } from './own-connection.ts'
import { Watchdog } from './watchdog.ts'

/** The time for which no further client takes over, ms: the server may be a replica for long. */
const TAKE_OVER_PAUSE = 1000

export interface OwnClientSetup {
  readonly runtime: Runtime
  /** How long the server may answer nothing before the client is replaced, ms. */
  readonly maxSilence: number | false
  /** Makes a client, not yet connected. */
  readonly make: () => ConnectableClient | Promise<ConnectableClient>
  /** Makes a duplicate. Default: of the present client. */
  readonly duplicate?: (() => ConnectableClient) | undefined
  readonly onClose?: (() => void) | undefined
  /**
   * Called while no connection was ready yet, with what fails and the number of connections begun, until it
   * returns true: it has been reported.
   */
  onUnreachable?: ((error: unknown, attempts: number) => boolean) | undefined
}

/**
 * A client of one server that the store makes and connects, and replaces when it ends, when its server falls
 * silent, and when that has become a replica: its address may lead to another server now.
 */
export class OwnClient implements Client {
  readonly status: ConnectionStatus = new ConnectionStatus()
  readonly #connection: OwnConnection<ConnectableClient>
  readonly #watchdog: Watchdog | undefined
  readonly #setup: OwnClientSetup
  #attempts = 0
  #mayReport = true
  #tookOverAt = -Infinity

  constructor(setup: OwnClientSetup) {
    const { runtime, maxSilence, make } = setup
    this.#setup = setup
    this.#watchdog =
      maxSilence === false ? undefined : new Watchdog(runtime, maxSilence, () => this.#connection.replace())
    this.#connection = new OwnConnection({
      runtime,
      make,
      onMade: (client) => this.#watch(client),
      onFailure: (error) => this.#unreachable(error),
    })
  }

  get isOpen(): boolean {
    return this.#connection.isOpen
  }

  get isReady(): boolean {
    return this.#connection.client?.isReady === true
  }

  send(args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    const reply = this.#madeClient().send(args, form)
    this.#watchdog?.watch(reply)
    reply.catch(this.#noteReplica)
    return reply
  }

  duplicate(): ConnectableClient {
    return this.#setup.duplicate?.() ?? this.#madeClient().duplicate()
  }

  open(): void {
    this.#connection.open()
  }

  suspend(): void {
    this.#connection.suspend()
  }

  close(): Promise<void> {
    this.#watchdog?.stop()
    this.#setup.onClose?.()
    return this.#connection.close()
  }

  #madeClient(): ConnectableClient {
    const { client } = this.#connection
    if (client === undefined) throw new NotExecutedError('The store has no connection to Redis', this.status.error)
    return client
  }

  readonly #noteReplica = (error: unknown): void => {
    const now = this.#setup.runtime.elapsed()
    if (codeOf(error) !== 'READONLY' || now - this.#tookOverAt < TAKE_OVER_PAUSE) return
    this.#tookOverAt = now
    void this.#connection.takeOver()
  }

  #watch(client: ConnectableClient): void {
    this.#attempts += 1
    // A server may accept the connection and never complete the handshake.
    client.on('connect', () => this.#watchdog?.watch(handshakeOf(client)))
    client.on('ready', () => {
      this.#mayReport = false
      this.status.ready()
    })
    // Not where another client serves: this one is to take over, or the store itself has destroyed it.
    const fail = (error: unknown): void => void (client === this.#connection.client && this.#unreachable(error))
    client.on('error', fail)
    client.on('end', () => fail(this.status.error ?? new Error('it closes the connection')))
  }

  #unreachable(error: unknown): void {
    this.status.failed(error)
    if (this.#mayReport && this.isOpen) this.#mayReport = this.#setup.onUnreachable?.(error, this.#attempts) === false
  }
}
