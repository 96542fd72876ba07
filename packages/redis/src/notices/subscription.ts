import type { CancelTimer, Notice, Runtime } from '@cattlegrid/core/extend'
import { isErrorReply } from '../link/connection-error.ts'
import type { Link } from '../link/link.ts'
import { NoticeConnection } from './notice-connection.ts'
import { parseMessage } from './wake-message.ts'

const FIRST_RETRY_DELAY = 100
const MAX_RETRY_DELAY = 30_000
/** While the server is away, ms. */
const MAX_AWAY_DELAY = 1000

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
 * The store's subscription to its channel, on a separate connection, so that no large reply delays a wake-up.
 * It connects in the background; while it is disconnected, followers poll.
 */
export class Subscription {
  readonly #setup: SubscriptionSetup
  readonly #onOther: (message: string) => void
  #connection: NoticeConnection | undefined
  #cancelStart: CancelTimer = () => undefined
  #cancelRetry: CancelTimer = () => undefined
  #failures = 0
  #connected = false
  #closed = false

  /** `onOther` gets the messages that are no notices. */
  constructor(setup: SubscriptionSetup, onOther: (message: string) => void) {
    this.#setup = setup
    this.#onOther = onOther
  }

  get connected(): boolean {
    return this.#connected
  }

  /**
   * Connects once the user's client is ready: the store never contacts a server that the user's client has
   * not connected to.
   */
  start(): void {
    this.#cancelStart = this.#setup.link.whenSubscribable(this.#open)
  }

  close(): void {
    this.#closed = true
    this.#connected = false
    this.#cancelStart()
    this.#cancelRetry()
    this.#connection?.destroy()
  }

  readonly #open = (): void => {
    const { link, channel, runtime, maxSilence } = this.#setup
    const subscriber = link.subscriberConnection()
    // This check sends nothing, so it needs no increasing delay.
    if (subscriber === undefined) return this.#retryIn(FIRST_RETRY_DELAY)
    const { client, isCurrent } = subscriber
    const onEnd = (): void => this.#ended()
    const connection = new NoticeConnection({ client, runtime, maxSilence, isCurrent, onEnd })
    this.#connection = connection
    connection
      .subscribe(() => client.subscribe(channel, this.#receive))
      .then(
        () => this.#subscribed(connection),
        (error: unknown) => this.#refused(connection, error),
      )
  }

  readonly #receive = (message: string): void => {
    if (this.#closed) return
    const notice = parseMessage(message)
    if (notice === undefined) this.#onOther(message)
    else this.#setup.announce(notice)
  }

  #subscribed(connection: NoticeConnection): void {
    if (connection !== this.#connection || this.#closed) return
    this.#connected = true
    this.#failures = 0
    this.#setup.announce({ kind: 'connected' })
  }

  #refused(connection: NoticeConnection, error: unknown): void {
    if (connection !== this.#connection || this.#closed) return
    if (isErrorReply(error) && this.#failures === 0) {
      const { channel, announce } = this.#setup
      const hint = `allow the Redis user to subscribe to it (&${channel})`
      announce({
        kind: 'warning',
        message: `Wake-ups on the channel '${channel}' do not arrive (${error.message}): ${hint}. Until then, waiters poll.`,
      })
    }
    connection.destroy()
    this.#ended()
  }

  #ended(): void {
    const wasConnected = this.#connected
    this.#connection = undefined
    this.#connected = false
    const { link, runtime } = this.#setup
    const most = link.isReady ? MAX_RETRY_DELAY : MAX_AWAY_DELAY
    // Spread, so that the processes do not all subscribe at once after their server was away.
    this.#retryIn(Math.min(FIRST_RETRY_DELAY * 2 ** this.#failures, most) * (1 + runtime.random() / 2))
    this.#failures += 1
    if (wasConnected) this.#setup.announce({ kind: 'disconnected' })
  }

  #retryIn(delay: number): void {
    this.#cancelRetry = this.#setup.runtime.schedule(this.#open, delay)
  }
}
