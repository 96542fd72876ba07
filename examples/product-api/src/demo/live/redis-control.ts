import { startRedis, type RedisServer } from '@cattlegrid/testkit'

/** The Redis of the page: one that the demo started, and may stop and freeze, or yours. */
export class RedisControl {
  readonly url: string
  /** Undefined for yours. */
  #server: RedisServer | undefined
  /** The last change, so that one begins when the other is complete. */
  #change: Promise<void> = Promise.resolve()
  #closed = false

  constructor(server: RedisServer) {
    this.url = server.url
    this.#server = server.pid === undefined ? undefined : server
  }

  get isOurs(): boolean {
    return this.#server !== undefined
  }

  stop(): Promise<void> {
    return this.#then(async () => await this.#server?.stop())
  }

  /** Starts it again on its port, empty. */
  restart(): Promise<void> {
    return this.#then(async () => {
      if (this.#server !== undefined) this.#server = await startRedis({ port: this.#server.port })
    })
  }

  async freeze(): Promise<void> {
    this.#server?.pause()
  }

  async thaw(): Promise<void> {
    this.#server?.resume()
  }

  async close(): Promise<void> {
    const stopped = this.stop()
    this.#closed = true
    await stopped
  }

  #then(change: () => Promise<void>): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#change = this.#change.catch(() => undefined).then(change)
    return this.#change
  }
}
