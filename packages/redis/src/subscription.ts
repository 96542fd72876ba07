import type { CancelTimer, Notice, Runtime } from '@cattlegrid/core'
import type { Ear, Link } from './link/link.ts'
import { AS_TEXT, greeted, type RedisClient } from './redis-client.ts'
import { parseMessage } from './wake-message.ts'
import { Watchdog } from './watchdog.ts'

const FIRST_PAUSE = 500
const LONGEST_PAUSE = 30_000
/** How often an ear is asked whether it still hears. */
const BEAT = 2000

/**
 * The store's ear: a connection of its own to one channel, so that no big reply delays a wake-up. Opened behind everybody's back; while it
 * is away followers are woken by their timers.
 */
export class Subscription {
  readonly #link: Link
  readonly #channel: string
  readonly #tell: (notice: Notice) => void
  readonly #runtime: Runtime
  readonly #watchdog: Watchdog | undefined
  #ear: Ear | undefined
  #withdraw: CancelTimer = () => undefined
  #retry: CancelTimer | undefined
  #beat: CancelTimer | undefined
  #failures = 0
  #hearing = false
  #closed = false

  /** `patience`, ms: how long the server may leave everything unanswered. */
  constructor(link: Link, channel: string, tell: (notice: Notice) => void, runtime: Runtime, patience: number | false) {
    this.#link = link
    this.#channel = channel
    this.#tell = tell
    this.#runtime = runtime
    this.#watchdog = patience === false ? undefined : new Watchdog(runtime, patience, this.#replace)
  }

  get hearing(): boolean {
    return this.#hearing
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
    if (this.#closed || this.#ear !== undefined) return
    const ear = this.#link.ear()
    if (ear !== undefined) this.#listen(ear)
    // Looking costs nothing: no reason to become more patient.
    else this.#retry = this.#runtime.schedule(this.#open, FIRST_PAUSE)
  }

  #listen(ear: Ear): void {
    this.#ear = ear
    const { client } = ear
    let subscribed = false
    client.on('connect', () => this.#watchdog?.watch(greeted(client)))
    // A reconnecting client subscribes again before it is ready.
    client.on('ready', () => {
      if (subscribed) this.#heard(ear)
    })
    for (const event of ['error', 'reconnecting', 'end']) client.on(event, () => this.#lost(ear))
    // The owner's client decides how long the process lives.
    client.unref()
    const subscribe = async (): Promise<void> => {
      await client.connect()
      await client.subscribe(this.#channel, (message) => this.#receive(message))
      subscribed = true
      this.#heard(ear)
    }
    subscribe().catch((error: unknown) => this.#failed(ear, error))
  }

  #receive(message: string): void {
    const notice = parseMessage(message)
    if (notice !== undefined && !this.#closed) this.#tell(notice)
  }

  #heard(ear: Ear): void {
    if (ear !== this.#ear || this.#hearing) return
    this.#hearing = true
    this.#failures = 0
    this.#beat = this.#runtime.schedule(() => this.#listenIn(ear), BEAT)
    this.#tell({ kind: 'connected' })
  }

  /** Silence on a channel means nothing: an answer does. */
  #listenIn(ear: Ear): void {
    if (ear !== this.#ear || !this.#hearing) return
    if (!ear.isCurrent()) return this.#replace()
    this.#beat = this.#runtime.schedule(() => this.#listenIn(ear), BEAT)
    this.#watchdog?.watch(ear.client.sendCommand(['PING'], AS_TEXT))
  }

  #lost(ear: Ear): void {
    if (ear !== this.#ear) return
    // A client whose reconnect strategy has given up stays closed for good.
    if (!ear.returns || !ear.client.isOpen) this.#replace()
    else this.#deafen()
  }

  #failed(ear: Ear, error: unknown): void {
    if (ear !== this.#ear) return
    if (ear.client.isReady && this.#failures === 0) {
      const reason = error instanceof Error ? error.message : String(error)
      const cure = `allow the Redis user to subscribe to it (&${this.#channel})`
      this.#tell({
        kind: 'warning',
        message: `Wake-ups on the channel '${this.#channel}' do not arrive (${reason}): ${cure}. Until then waiting callers look again by timer.`,
      })
    }
    this.#replace()
  }

  readonly #replace = (): void => {
    this.#drop()
    this.#again()
  }

  #again(): void {
    if (this.#closed) return
    this.#retry?.()
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE)
    this.#failures += 1
    this.#retry = this.#runtime.schedule(this.#open, pause)
  }

  #drop(): void {
    const client: RedisClient | undefined = this.#ear?.client
    this.#ear = undefined
    this.#deafen()
    if (client?.isOpen === true) client.destroy()
  }

  #deafen(): void {
    this.#beat?.()
    if (!this.#hearing) return
    this.#hearing = false
    if (!this.#closed) this.#tell({ kind: 'disconnected' })
  }
}
