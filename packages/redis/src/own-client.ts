import type { Runtime } from '@cattlegrid/core'
import { createClient } from 'redis'
import { ClientLink } from './link/client-link.ts'
import { onceReady, type RedisClient } from './redis-client.ts'
import { Watchdog } from './watchdog.ts'

/** The time for which `close` waits for the replies to commands already sent, ms. */
const CLOSE_TIMEOUT = 1000

/** The client that the store creates for `url`, and replaces when its server falls silent. */
export class OwnClient {
  readonly link: ClientLink
  readonly #url: string
  readonly #runtime: Runtime
  #client: RedisClient
  readonly #watchdog: Watchdog | undefined
  readonly #warn: (message: string) => void
  #connected = false
  #warned = false
  #closed = false

  /**
   * `maxSilence`: how long the server may answer nothing before the client is replaced, ms. `warn` is called once, after the constructor has returned, if
   * the first connection fails.
   */
  constructor(url: string, runtime: Runtime, maxSilence: number | false, warn: (message: string) => void) {
    this.#warn = warn
    this.#url = url
    this.#client = makeClient(url, runtime)
    this.#runtime = runtime
    this.#watchdog = maxSilence === false ? undefined : new Watchdog(runtime, maxSilence, this.#reconnect)
    this.link = new ClientLink(this.#client, this.#watchdog)
    this.#connect()
  }

  /** Waits for the replies to commands already sent, but at most CLOSE_TIMEOUT: a frozen server must not delay the exit of the process. */
  async close(): Promise<void> {
    this.#closed = true
    this.#watchdog?.stop()
    await new Promise<void>((resolve) => {
      const cancel = this.#runtime.schedule(resolve, CLOSE_TIMEOUT)
      const settle = (): void => {
        cancel()
        resolve()
      }
      this.#client.close().then(settle, settle)
    })
    this.#destroy()
  }

  /**
   * Rejects the unanswered commands: whether they were executed is unknown. A new client takes over, because one that is destroyed during its
   * handshake and connected again would keep both connections.
   */
  readonly #reconnect = (): void => {
    if (this.#closed) return
    this.#destroy()
    this.#client = makeClient(this.#url, this.#runtime)
    this.link.use(this.#client)
    this.#connect()
  }

  #connect(): void {
    const client = this.#client
    // A server may accept the connection and never complete the handshake.
    client.on('connect', () => this.#watchdog?.watch(onceReady(client)))
    client.on('ready', () => (this.#connected = true))
    client.on('error', (error: unknown) => this.#warnOnce(error))
    // The steps report a failed connection as `away`.
    client.connect().catch(() => undefined)
  }

  /** Only for a server that was never reached: the url may be wrong, and a cache without its store would not show it. */
  #warnOnce(error: unknown): void {
    if (this.#connected || this.#warned || this.#closed) return
    this.#warned = true
    const { code, message } = error as NodeJS.ErrnoException
    const reason = message === '' ? String(code) : message
    // Without the url's user and password.
    const { host } = new URL(this.#url)
    this.#warn(
      `Redis at ${host} cannot be reached (${reason}): check \`url\`. Until it answers, each process loads on its own.`,
    )
  }

  #destroy(): void {
    try {
      this.#client.destroy()
    } catch {
      // The client is already closed.
    }
  }
}

/** Creates a client that always reconnects, queues nothing while it is disconnected, and has no timer per command. */
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
  // Without an 'error' listener, the first broken connection would end the process.
  client.on('error', () => undefined)
  return client
}
