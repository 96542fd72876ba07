import type { CancelTimer, Notice, Runtime } from '@cattlegrid/core/extend'
import { handshakeOf, type ConnectableClient } from '../link/client.ts'
import type { SubscriberConnection, Link } from '../link/link.ts'
import { Watchdog } from '../link/watchdog.ts'
import { parseMessage } from './wake-message.ts'

const FIRST_RETRY_DELAY = 500
const MAX_RETRY_DELAY = 30_000
/** The events of a client that has lost its connection. */
const LOST = ['error', 'reconnecting', 'end'] as const
/** The time between two checks of the connection, ms. */
const CHECK_INTERVAL = 2000

/** What the connections for notices need of their store. */
export interface SubscriptionSetup {
  readonly link: Link
  /** The channel of the namespace. */
  readonly channel: string
  readonly runtime: Runtime
  /** How long a server may answer nothing before the connection to it is replaced, ms. */
  readonly maxSilence: number | false
  readonly announce: (notice: Notice) => void
}

/**
 * The store's subscription to its channel, on a separate connection, so that no large reply delays a wake-up. It connects in the background; while it
 * is disconnected, followers poll.
 */
export class Subscription {
  readonly #setup: SubscriptionSetup
  readonly #onOther: (message: string) => void
  readonly #watchdog: Watchdog | undefined
  #connection: SubscriberConnection | undefined
  #cancelOpen: CancelTimer = () => undefined
  #retryTimer: CancelTimer | undefined
  #checkTimer: CancelTimer | undefined
  #failures = 0
  #connected = false
  #closed = false

  /** `onOther` gets the messages that are no notices. */
  constructor(setup: SubscriptionSetup, onOther: (message: string) => void) {
    const { runtime, maxSilence } = setup
    this.#setup = setup
    this.#onOther = onOther
    this.#watchdog = maxSilence === false ? undefined : new Watchdog(runtime, maxSilence, this.#replace)
  }

  get connected(): boolean {
    return this.#connected
  }

  /** Connects once the user's client is open: the store never contacts a server that the user's client has not connected to. */
  start(): void {
    this.#cancelOpen = this.#setup.link.whenSubscribable(this.#open)
  }

  close(): void {
    this.#closed = true
    this.#cancelOpen()
    this.#retryTimer?.()
    this.#watchdog?.stop()
    this.#drop()
  }

  readonly #open = (): void => {
    if (this.#closed || this.#connection !== undefined) return
    const connection = this.#setup.link.subscriberConnection()
    if (connection !== undefined) this.#subscribe(connection)
    // This check sends nothing, so it needs no increasing delay.
    else this.#retryTimer = this.#setup.runtime.schedule(this.#open, FIRST_RETRY_DELAY)
  }

  #subscribe(connection: SubscriberConnection): void {
    this.#connection = connection
    const { client } = connection
    let subscribed = false
    client.on('connect', () => this.#watchdog?.watch(handshakeOf(client)))
    // node-redis subscribes again before it emits 'ready' on a reconnect.
    client.on('ready', () => {
      if (subscribed) this.#markConnected(connection)
    })
    for (const event of LOST) client.on(event, () => this.#connectionLost(connection))
    const subscribe = async (): Promise<void> => {
      await client.connect()
      const answer = client.subscribe(this.#setup.channel, (message) => this.#receive(message))
      this.#watchdog?.watch(answer)
      await answer
      subscribed = true
      this.#markConnected(connection)
    }
    subscribe().catch((error: unknown) => this.#subscribeFailed(connection, error))
  }

  #receive(message: string): void {
    if (this.#closed) return
    const notice = parseMessage(message)
    if (notice === undefined) this.#onOther(message)
    else this.#setup.announce(notice)
  }

  #markConnected(connection: SubscriberConnection): void {
    if (connection !== this.#connection || this.#connected) return
    this.#connected = true
    this.#checkTimer?.()
    this.#failures = 0
    this.#checkTimer = this.#setup.runtime.schedule(() => this.#checkAlive(connection), CHECK_INTERVAL)
    this.#setup.announce({ kind: 'connected' })
  }

  /** Sends a PING: no messages on the channel does not mean that the connection is broken. */
  #checkAlive(connection: SubscriberConnection): void {
    if (connection !== this.#connection || !this.#connected) return
    if (!connection.isCurrent()) return this.#replace()
    this.#checkTimer = this.#setup.runtime.schedule(() => this.#checkAlive(connection), CHECK_INTERVAL)
    this.#watchdog?.watch(connection.client.send(['PING'], 'text'))
  }

  #connectionLost(connection: SubscriberConnection): void {
    if (connection !== this.#connection) return
    // A client whose reconnect strategy has given up never opens again.
    if (!connection.mayReconnect || !connection.client.isOpen) this.#replace()
    else {
      this.#markDisconnected()
      this.#checkTimer = this.#setup.runtime.schedule(() => this.#checkRecovered(connection), CHECK_INTERVAL)
    }
  }

  /** A client also emits `error` where its connection stays, for example for a PING that a busy server refuses: then no `ready` follows. */
  #checkRecovered(connection: SubscriberConnection): void {
    if (connection !== this.#connection || this.#connected) return
    this.#checkTimer = this.#setup.runtime.schedule(() => this.#checkRecovered(connection), CHECK_INTERVAL)
    const { client } = connection
    // The client subscribes again before it is ready again.
    if (client.isReady) client.send(['PING'], 'text').then(() => this.#markConnected(connection), ignored)
  }

  #subscribeFailed(connection: SubscriberConnection, error: unknown): void {
    if (connection !== this.#connection) return
    if (connection.client.isReady && this.#failures === 0) {
      const { channel, announce } = this.#setup
      const reason = error instanceof Error ? error.message : String(error)
      const hint = `allow the Redis user to subscribe to it (&${channel})`
      announce({
        kind: 'warning',
        message: `Wake-ups on the channel '${channel}' do not arrive (${reason}): ${hint}. Until then, waiters poll.`,
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
    this.#retryTimer?.()
    const delay = Math.min(FIRST_RETRY_DELAY * 2 ** this.#failures, MAX_RETRY_DELAY)
    this.#failures += 1
    this.#retryTimer = this.#setup.runtime.schedule(this.#open, delay)
  }

  #drop(): void {
    const client: ConnectableClient | undefined = this.#connection?.client
    this.#connection = undefined
    this.#markDisconnected()
    client?.destroy()
  }

  #markDisconnected(): void {
    this.#checkTimer?.()
    if (!this.#connected) return
    this.#connected = false
    if (!this.#closed) this.#setup.announce({ kind: 'disconnected' })
  }
}

function ignored(): void {}
