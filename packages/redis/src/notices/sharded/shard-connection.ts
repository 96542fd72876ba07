import type { CancelTimer, Runtime } from '@cattlegrid/core/extend'
import { type ConnectableClient, handshakeOf } from '../../link/client.ts'
import { Watchdog } from '../../link/watchdog.ts'

/** The time between two checks of the connection, ms. */
const CHECK_INTERVAL = 2000
/** The events of a client that has lost its connection, or whose replies no longer match its commands. */
const LOST = ['error', 'reconnecting', 'end'] as const

export interface ShardConnectionSetup {
  /** A client of one master, not yet connected. */
  readonly client: ConnectableClient
  readonly runtime: Runtime
  /** How long the server may answer nothing before the connection ends, ms. */
  readonly maxSilence: number | false
  readonly onMessage: (message: string) => void
  /** Called when the server has ended the subscription to a channel, because its slot has moved. */
  readonly onMoved: (channel: string) => void
  /** Called once, when the connection can no longer be relied on: no message of its channels is sure to arrive any more. */
  readonly onEnd: () => void
}

/** A connection to one master, for sharded channels. It is never repaired: once it is lost, it ends. */
export class ShardConnection {
  readonly #setup: ShardConnectionSetup
  readonly #watchdog: Watchdog | undefined
  readonly #connected: Promise<unknown>
  #checkTimer: CancelTimer | undefined
  #ended = false

  constructor(setup: ShardConnectionSetup) {
    const { client, runtime, maxSilence } = setup
    this.#setup = setup
    this.#watchdog = maxSilence === false ? undefined : new Watchdog(runtime, maxSilence, this.#end)
    client.on('connect', () => this.#watchdog?.watch(handshakeOf(client)))
    for (const event of LOST) client.on(event, this.#end)
    client.on('moved', (channel) => (typeof channel === 'string' ? setup.onMoved(channel) : this.#end()))
    this.#connected = this.#connect()
  }

  /** Resolves once messages of the channel arrive. Rejects with the error of the server or the client. */
  async subscribe(channel: string): Promise<void> {
    await this.#connected
    const answer = this.#setup.client.subscribeSharded(channel, this.#setup.onMessage)
    this.#watchdog?.watch(answer)
    await answer
  }

  destroy(): void {
    this.#ended = true
    this.#checkTimer?.()
    this.#watchdog?.stop()
    this.#setup.client.destroy()
  }

  async #connect(): Promise<void> {
    try {
      await this.#setup.client.connect()
      this.#checkLater()
    } catch {
      this.#end()
    }
  }

  /** Sends a PING: no messages do not mean that the connection is broken. */
  #checkLater(): void {
    if (this.#ended) return
    this.#checkTimer = this.#setup.runtime.schedule(() => {
      this.#checkLater()
      const answer = this.#setup.client.send(['PING'], 'text')
      this.#watchdog?.watch(answer)
      answer.catch(this.#end)
    }, CHECK_INTERVAL)
  }

  readonly #end = (): void => {
    if (this.#ended) return
    this.destroy()
    this.#setup.onEnd()
  }
}
