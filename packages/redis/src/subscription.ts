import type { CancelTimer, Notice, Runtime } from '@cattlegrid/core'
import type { RedisClient } from './redis-client.ts'
import { parseMessage } from './wake-message.ts'

const FIRST_PAUSE = 500
const LONGEST_PAUSE = 30_000

/**
 * The store's ear: a connection of its own to one channel, so that no big reply delays a wake-up. Opened behind everybody's back; while it
 * is away followers are woken by their timers.
 */
export class Subscription {
  readonly #source: RedisClient
  readonly #channel: string
  readonly #tell: (notice: Notice) => void
  readonly #runtime: Runtime
  #client: RedisClient | undefined
  #retry: CancelTimer | undefined
  #failures = 0
  #hearing = false
  #closed = false

  constructor(source: RedisClient, channel: string, tell: (notice: Notice) => void, runtime: Runtime) {
    this.#source = source
    this.#channel = channel
    this.#tell = tell
    this.#runtime = runtime
  }

  get hearing(): boolean {
    return this.#hearing
  }

  /** Begins as soon as the client that it copies is open: an address that its owner never uses is never called. */
  start(): void {
    if (this.#source.isOpen) this.#open()
    else this.#source.on('ready', this.#open)
  }

  close(): void {
    this.#closed = true
    this.#source.off('ready', this.#open)
    this.#retry?.()
    this.#drop()
  }

  readonly #open = (): void => {
    this.#source.off('ready', this.#open)
    if (this.#closed || this.#client !== undefined) return
    const client = this.#source.duplicate()
    this.#client = client
    let subscribed = false
    // A reconnecting client subscribes again before it is ready.
    client.on('ready', () => {
      if (subscribed) this.#heard(client)
    })
    for (const event of ['error', 'reconnecting', 'end']) client.on(event, () => this.#lost(client))
    // The owner's client decides how long the process lives.
    client.unref()
    const subscribe = async (): Promise<void> => {
      await client.connect()
      await client.subscribe(this.#channel, (message) => this.#receive(message))
      subscribed = true
      this.#heard(client)
    }
    subscribe().catch((error: unknown) => this.#failed(client, error))
  }

  #receive(message: string): void {
    const notice = parseMessage(message)
    if (notice !== undefined && !this.#closed) this.#tell(notice)
  }

  #heard(client: RedisClient): void {
    if (client !== this.#client || this.#hearing) return
    this.#hearing = true
    this.#failures = 0
    this.#tell({ kind: 'hearing' })
  }

  #lost(client: RedisClient): void {
    if (client !== this.#client) return
    if (this.#hearing) {
      this.#hearing = false
      this.#tell({ kind: 'deaf' })
    }
    // A client whose reconnect strategy has given up stays closed for good.
    if (!client.isOpen) this.#again()
  }

  #failed(client: RedisClient, error: unknown): void {
    if (client !== this.#client) return
    if (client.isReady && this.#failures === 0) {
      const reason = error instanceof Error ? error.message : String(error)
      const cure = `allow the Redis user to subscribe to it (&${this.#channel})`
      this.#tell({
        kind: 'warning',
        message: `Wake-ups on the channel '${this.#channel}' do not arrive (${reason}): ${cure}. Until then waiting callers look again by timer.`,
      })
    }
    this.#again()
  }

  #again(): void {
    this.#drop()
    if (this.#closed) return
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE)
    this.#failures += 1
    this.#retry = this.#runtime.schedule(this.#open, pause)
  }

  #drop(): void {
    const client = this.#client
    this.#client = undefined
    this.#hearing = false
    if (client?.isOpen === true) client.destroy()
  }
}
