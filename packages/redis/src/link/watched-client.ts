import type { Runtime } from '@cattlegrid/core/extend'
import type { RedisArgument, Client, ConnectableClient, ReplyForm } from './client.ts'
import { ConnectionStatus } from './connection-status.ts'
import { NodeRedisClient, type RedisClient } from './node-redis.ts'
import { OwnClient } from './own-client.ts'
import { Watchdog } from './watchdog.ts'

/**
 * A user's client of node-redis as the store uses it, and what ends that. `maxSilence`: as of
 * `WatchedClient`; false: it is not watched.
 */
export function userClient(
  client: RedisClient,
  runtime: Runtime,
  maxSilence: number | false,
): { readonly used: Client; readonly close: () => Promise<void> } {
  const status = new ConnectionStatus()
  const unfollow = status.follow(client, { ready: ['ready'], stands: () => client.isReady, isOne: true })
  const followed = new NodeRedisClient(client, status)
  const watched = maxSilence === false ? undefined : new WatchedClient(followed, runtime, maxSilence)
  return {
    used: watched ?? followed,
    async close() {
      unfollow()
      await watched?.close()
    },
  }
}

/**
 * A user's client of node-redis, and a connection with the same settings that takes its place while the
 * server answers nothing over it. A client whose peer vanished silently stays ready for as long as something
 * is written to it: its `pingInterval` has no deadline, and each write restarts its `socketTimeout`.
 */
class WatchedClient implements Client {
  readonly #client: ConnectableClient
  readonly #watchdog: Watchdog
  readonly #substitute: OwnClient

  /** `maxSilence`: how long the server may answer nothing before the substitute connects, ms. */
  constructor(client: ConnectableClient, runtime: Runtime, maxSilence: number) {
    this.#client = client
    this.#watchdog = new Watchdog(runtime, maxSilence, () => this.#begin())
    this.#substitute = new OwnClient({ runtime, maxSilence, make: () => client.duplicate() })
  }

  get status(): ConnectionStatus {
    return this.#client.status
  }

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady || this.#substitute.isReady
  }

  send(args: readonly RedisArgument[], form: ReplyForm): Promise<unknown> {
    if (this.#substitute.isReady) return this.#substitute.send(args, form)
    const reply = this.#client.send(args, form)
    // One at a time, because to watch each would cost every hit a promise. Replies arrive in order.
    if (!this.#watchdog.isWatching) this.#watch(reply)
    return reply
  }

  duplicate(): ConnectableClient {
    return this.#client.duplicate()
  }

  close(): Promise<void> {
    this.#watchdog.stop()
    this.#unlisten()
    return this.#substitute.close()
  }

  #watch(reply: Promise<unknown>): void {
    this.#watchdog.watch(reply)
    reply.then(this.#settled, this.#settled)
  }

  #begin(): void {
    if (this.#substitute.isOpen || !this.#client.isOpen) return
    this.#client.on('ready', this.#end)
    this.#client.on('end', this.#end)
    this.#substitute.open()
  }

  /** A reply that arrives late, such as from a server that was frozen, shows that the connection works. */
  readonly #settled = (): void => {
    if (this.#client.isReady && this.#substitute.isOpen) this.#end()
  }

  readonly #end = (): void => {
    this.#unlisten()
    this.#substitute.suspend()
  }

  #unlisten(): void {
    this.#client.off('ready', this.#end)
    this.#client.off('end', this.#end)
  }
}
