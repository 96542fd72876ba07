import type { CancelTimer, Runtime } from '@cattlegrid/core/extend'

/** A client, of one server or of a cluster, that the store makes and connects. */
export interface Connectable {
  connect(): Promise<unknown>
  close(): Promise<unknown>
  destroy(): void
  on(event: 'ready' | 'end', listener: () => void): unknown
}

export interface OwnConnectionSetup<C extends Connectable> {
  readonly runtime: Runtime
  /** Makes a client, not yet connected. */
  readonly make: () => C | Promise<C>
  /** Called with each client that was made, before it connects. */
  readonly onMade?: ((client: C) => void) | undefined
  /** Called if no client can be made. */
  onFailure?: ((error: unknown) => void) | undefined
}

const FIRST_RETRY_DELAY = 50
const MAX_RETRY_DELAY = 1000
/** How long a client that is to take over may need to connect, ms. */
const TAKE_OVER_TIMEOUT = 1000
/** The time for which `close` waits for the replies to commands already sent, ms. */
const CLOSE_TIMEOUT = 1000

/** Waits until a promise is settled, but no longer than `time` ms. */
export function atMost(runtime: Runtime, time: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = runtime.schedule(resolve, time)
    const settle = (): void => {
      cancel()
      resolve()
    }
    promise.then(settle, settle)
  })
}

/**
 * Keeps a client connected while it is open: makes a new one when the last has ended, unless none can be
 * made. Its timers do not keep the process alive.
 */
export class OwnConnection<C extends Connectable> {
  readonly #setup: OwnConnectionSetup<C>
  #isOpen = false
  #client: C | undefined
  #failures = 0
  #cancelRetry: CancelTimer = () => undefined
  /** Changes with each client: one that is made too late is not used. */
  #attempt = 0
  #isTakingOver = false

  constructor(setup: OwnConnectionSetup<C>) {
    this.#setup = setup
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get client(): C | undefined {
    return this.#client
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    void this.#make()
  }

  /**
   * Rejects the unanswered commands: whether they were executed is unknown. A new client takes over, because
   * one that is destroyed during its handshake and connected again would keep both connections.
   */
  replace(): void {
    if (!this.#isOpen) return
    this.#drop()
    void this.#make()
  }

  /**
   * A new client takes over as soon as it is connected. Until then, and if it cannot connect, the present one
   * serves on; it ends when its commands are answered.
   */
  async takeOver(): Promise<void> {
    const present = this.#client
    if (present === undefined || this.#isTakingOver) return
    this.#isTakingOver = true
    const next = await this.#connected()
    this.#isTakingOver = false
    if (next === undefined || this.#client !== present) return next?.destroy()
    this.#client = next
    await this.#end(present)
  }

  /** Rejects the unanswered commands, until it is opened again. */
  suspend(): void {
    this.#isOpen = false
    this.#drop()
  }

  async close(): Promise<void> {
    this.#isOpen = false
    if (this.#client !== undefined) await this.#end(this.#client)
    this.#drop()
  }

  async #make(): Promise<void> {
    this.#attempt += 1
    const attempt = this.#attempt
    const client = await this.#madeOrNone()
    if (client === undefined || attempt !== this.#attempt) return
    this.#client = client
    // The steps report a failed connection as `away`.
    this.#connect(client).catch(() => undefined)
  }

  async #connect(client: C): Promise<void> {
    client.on('ready', () => (this.#failures = 0))
    client.on('end', () => this.#retryLater(client))
    this.#setup.onMade?.(client)
    await client.connect()
  }

  /** A new client that is connected; undefined if none could be within TAKE_OVER_TIMEOUT. */
  async #connected(): Promise<C | undefined> {
    const client = await this.#madeOrNone()
    if (client === undefined) return undefined
    let isConnected = false
    const connected = this.#connect(client).then(() => (isConnected = true))
    await atMost(this.#setup.runtime, TAKE_OVER_TIMEOUT, connected)
    if (isConnected) return client
    client.destroy()
    return undefined
  }

  async #madeOrNone(): Promise<C | undefined> {
    try {
      return await this.#setup.make()
    } catch (error) {
      this.#setup.onFailure?.(error)
      return undefined
    }
  }

  /**
   * Waits for the replies to commands already sent, but at most CLOSE_TIMEOUT: a frozen server must not delay
   * the exit of the process.
   */
  async #end(client: C): Promise<void> {
    await atMost(this.#setup.runtime, CLOSE_TIMEOUT, client.close())
    client.destroy()
  }

  #retryLater(client: C): void {
    if (client !== this.#client || !this.#isOpen) return
    const { runtime } = this.#setup
    const delay = Math.min(FIRST_RETRY_DELAY * 2 ** this.#failures, MAX_RETRY_DELAY) + runtime.random() * 100
    this.#failures += 1
    this.#cancelRetry = runtime.schedule(() => this.replace(), delay)
  }

  #drop(): void {
    this.#attempt += 1
    this.#cancelRetry()
    const client = this.#client
    this.#client = undefined
    client?.destroy()
  }
}
