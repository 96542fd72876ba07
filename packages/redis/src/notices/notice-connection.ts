import type { CancelTimer, Runtime } from '@cattlegrid/core/extend'
import { type ConnectableClient, handshakeOf } from '../link/client.ts'
import { isErrorReply } from '../link/connection-error.ts'
import { Watchdog } from '../link/watchdog.ts'

/** The events of a client that has lost its connection. */
const LOST = ['error', 'reconnecting', 'end'] as const
/** The time between two checks of the connection, ms. */
const CHECK_INTERVAL = 2000

export interface NoticeConnectionSetup {
  /** Not yet connected. */
  readonly client: ConnectableClient
  readonly runtime: Runtime
  /** How long the server may answer nothing before the connection ends, ms. */
  readonly maxSilence: number | false
  /** False once published messages no longer reach the server. Default: they do. */
  readonly isCurrent?: (() => boolean) | undefined
  /** Called when the server has ended the subscription to a channel, because its slot has moved. */
  readonly onMoved?: ((channel: string) => void) | undefined
  /**
   * Called once, when the connection can no longer be relied on: no message of its channels is sure to arrive
   * any more.
   */
  readonly onEnd: () => void
}

/** A connection to one server, for notices. It is never repaired: once it is lost, it ends. */
export class NoticeConnection {
  readonly #setup: NoticeConnectionSetup
  readonly #watchdog: Watchdog | undefined
  readonly #connected: Promise<unknown>
  #checkTimer: CancelTimer | undefined
  #ended = false

  constructor(setup: NoticeConnectionSetup) {
    const { client, runtime, maxSilence, onMoved } = setup
    this.#setup = setup
    this.#watchdog = maxSilence === false ? undefined : new Watchdog(runtime, maxSilence, this.#end)
    client.on('connect', () => this.#watchdog?.watch(handshakeOf(client)))
    for (const event of LOST) client.on(event, this.#end)
    client.on('moved', (channel) => (typeof channel === 'string' ? onMoved?.(channel) : this.#end()))
    this.#connected = this.#connect()
  }

  /** Resolves once messages arrive. Rejects with the error of the server or the client. */
  async subscribe(begin: (client: ConnectableClient) => Promise<unknown>): Promise<void> {
    await this.#connected
    const answer = begin(this.#setup.client)
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
    const { client, runtime, isCurrent = () => true } = this.#setup
    this.#checkTimer = runtime.schedule(() => {
      if (!isCurrent()) return this.#end()
      this.#checkLater()
      const answer = client.send(['PING'], 'text')
      this.#watchdog?.watch(answer)
      // A busy server refuses it, and the connection stays.
      answer.catch((error: unknown) => void (isErrorReply(error) || this.#end()))
    }, CHECK_INTERVAL)
  }

  readonly #end = (): void => {
    if (this.#ended) return
    this.destroy()
    this.#setup.onEnd()
  }
}
