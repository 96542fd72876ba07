import type { Runtime } from '@cattlegrid/core'
import { createClient } from 'redis'
import { ClientLink } from './link/client-link.ts'
import { onceReady, type RedisClient } from './redis-client.ts'
import { Watchdog } from './watchdog.ts'

/** How long it may take to deliver what was sent before `close`. */
const FAREWELL = 1000

/** A client of the store's own. */
export class OwnClient {
  readonly link: ClientLink
  readonly #url: string
  readonly #runtime: Runtime
  #client: RedisClient
  readonly #watchdog: Watchdog | undefined
  #closed = false

  /** `patience`, ms: how long the server may leave everything unanswered. */
  constructor(url: string, runtime: Runtime, patience: number | false) {
    this.#url = url
    this.#client = makeClient(url, runtime)
    this.#runtime = runtime
    this.#watchdog = patience === false ? undefined : new Watchdog(runtime, patience, this.#openAnew)
    this.link = new ClientLink(this.#client, this.#watchdog)
    this.#connect()
  }

  /** Lets what was sent get its reply, but not for longer than a frozen server may hold the process up. */
  async close(): Promise<void> {
    this.#closed = true
    this.#watchdog?.stop()
    await new Promise<void>((resolve) => {
      const cancel = this.#runtime.schedule(resolve, FAREWELL)
      const settle = (): void => {
        cancel()
        resolve()
      }
      this.#client.close().then(settle, settle)
    })
    this.#destroy()
  }

  /**
   * What was sent and not answered is rejected: nobody knows whether it was executed. A client that is closed in the middle of its greeting
   * and opened again would go on with both connections, so another one takes its place.
   */
  readonly #openAnew = (): void => {
    if (this.#closed) return
    this.#destroy()
    this.#client = makeClient(this.#url, this.#runtime)
    this.link.use(this.#client)
    this.#connect()
  }

  #connect(): void {
    const client = this.#client
    // A server that accepts a connection may still never greet.
    client.on('connect', () => this.#watchdog?.watch(onceReady(client)))
    // What fails is told as `away`.
    client.connect().catch(() => undefined)
  }

  #destroy(): void {
    try {
      this.#client.destroy()
    } catch {
      // Closed by now.
    }
  }
}

/** Never gives up, queues nothing while the server is gone, and waits for no reply with a timer. */
function makeClient(url: string, runtime: Runtime): RedisClient {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: 2000,
      keepAliveInitialDelay: 5000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), 1000) + runtime.random() * 100,
    },
  })
  // Without a listener the first broken connection would end the process.
  client.on('error', () => undefined)
  return client
}
