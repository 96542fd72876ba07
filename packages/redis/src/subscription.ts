import type { CancelTimer, Notice, Runtime } from '@cattlegrid/core'
import type { SubscriberConnection, Link } from './link/link.ts'
import { AS_TEXT, onceReady, type RedisClient } from './redis-client.ts'
import { parseMessage } from './wake-message.ts'
import { Watchdog } from './watchdog.ts'

const FIRST_PAUSE = 500
const LONGEST_PAUSE = 30_000
/** How often an connection is asked whether it still hears. */
const BEAT = 2000

/**
 * The store's connection: a connection of its own to one channel, so that no big reply delays a wake-up. Opened behind everybody's back; while it
 * is away followers are woken by their timers.
 */
export class Subscription {
  readonly #link: Link
  readonly #channel: string
  readonly #notify: (notice: Notice) => void
  readonly #runtime: Runtime
  readonly #watchdog: Watchdog | undefined
  #connection: SubscriberConnection | undefined
  #withdraw: CancelTimer = () => undefined
  #retry: CancelTimer | undefined
  #beat: CancelTimer | undefined
  #failures = 0
  #connected = false
  #closed = false

  /** `patience`, ms: how long the server may leave everything unanswered. */
  constructor(
    link: Link,
    channel: string,
    notify: (notice: Notice) => void,
    runtime: Runtime,
    patience: number | false,
  ) {
    this.#link = link
    this.#channel = channel
    this.#notify = notify
    this.#runtime = runtime
    this.#watchdog = patience === false ? undefined : new Watchdog(runtime, patience, this.#replace)
  }

  get connected(): boolean {
    return this.#connected
  }

  /** Begins as soon as the client that it copies is open: an address that its owner never uses is never called. */
  start(): void {
    this.#withdraw = this.#link.whenOpen(this.#open)
  }

  close(): void {
    this.#closed = true
    this.#withdraw()
    this.#retry?.()
    this.#watchdog?.stop()
    this.#drop()
  }

  readonly #open = (): void => {
    if (this.#closed || this.#connection !== undefined) return
    const connection = this.#link.subscriberConnection()
    if (connection !== undefined) this.#subscribe(connection)
    // Looking costs nothing: no reason to become more patient.
    else this.#retry = this.#runtime.schedule(this.#open, FIRST_PAUSE)
  }

  #subscribe(connection: SubscriberConnection): void {
    this.#connection = connection
    const { client } = connection
    let subscribed = false
    client.on('connect', () => this.#watchdog?.watch(onceReady(client)))
    // A reconnecting client subscribes again before it is ready.
    client.on('ready', () => {
      if (subscribed) this.#markConnected(connection)
    })
    for (const event of ['error', 'reconnecting', 'end']) client.on(event, () => this.#connectionLost(connection))
    // The owner's client decides how long the process lives.
    client.unref()
    const subscribe = async (): Promise<void> => {
      await client.connect()
      await client.subscribe(this.#channel, (message) => this.#receive(message))
      subscribed = true
      this.#markConnected(connection)
    }
    subscribe().catch((error: unknown) => this.#subscribeFailed(connection, error))
  }

  #receive(message: string): void {
    const notice = parseMessage(message)
    if (notice !== undefined && !this.#closed) this.#notify(notice)
  }

  #markConnected(connection: SubscriberConnection): void {
    if (connection !== this.#connection || this.#connected) return
    this.#connected = true
    this.#failures = 0
    this.#beat = this.#runtime.schedule(() => this.#checkAlive(connection), BEAT)
    this.#notify({ kind: 'connected' })
  }

  /** Silence on a channel means nothing: an answer does. */
  #checkAlive(connection: SubscriberConnection): void {
    if (connection !== this.#connection || !this.#connected) return
    if (!connection.isCurrent()) return this.#replace()
    this.#beat = this.#runtime.schedule(() => this.#checkAlive(connection), BEAT)
    this.#watchdog?.watch(connection.client.sendCommand(['PING'], AS_TEXT))
  }

  #connectionLost(connection: SubscriberConnection): void {
    if (connection !== this.#connection) return
    // A client whose reconnect strategy has given up stays closed for good.
    if (!connection.returns || !connection.client.isOpen) this.#replace()
    else this.#markDisconnected()
  }

  #subscribeFailed(connection: SubscriberConnection, error: unknown): void {
    if (connection !== this.#connection) return
    if (connection.client.isReady && this.#failures === 0) {
      const reason = error instanceof Error ? error.message : String(error)
      const cure = `allow the Redis user to subscribe to it (&${this.#channel})`
      this.#notify({
        kind: 'warning',
        message: `Wake-ups on the channel '${this.#channel}' do not arrive (${reason}): ${cure}. Until then waiting callers look again by timer.`,
      })
    }
    this.#replace()
  }

  readonly #replace = (): void => {
    this.#drop()
    this.#retryLater()
  }

  #retryLater(): void {
    if (this.#closed) return
    this.#retry?.()
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE)
    this.#failures += 1
    this.#retry = this.#runtime.schedule(this.#open, pause)
  }

  #drop(): void {
    const client: RedisClient | undefined = this.#connection?.client
    this.#connection = undefined
    this.#markDisconnected()
    if (client?.isOpen === true) client.destroy()
  }

  #markDisconnected(): void {
    this.#beat?.()
    if (!this.#connected) return
    this.#connected = false
    if (!this.#closed) this.#notify({ kind: 'disconnected' })
  }
}
