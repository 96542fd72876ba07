import { type Away, InvalidOptionError, type Runtime, type Store } from '@cattlegrid/core'
import { createClient } from 'redis'
import { redisStore } from '../redis-store.ts'
import { CommandError, reasonOf } from './command-error.ts'
import { formatDuration } from './print.ts'

const MAX_RETRY_DELAY = 1000

/** The cache that a command works on, and how long the command waits for it. */
export interface Target {
  readonly url: string
  readonly namespace: string
  /** For the whole command; for `watch`, until notices arrive, ms. */
  readonly timeout: number
}

type Client = ReturnType<typeof createClient>

/** A store behind a connection that may be dead: every call answers in time or throws a CommandError. */
export class Connection {
  readonly #client: Client
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #target: Target
  readonly #endsAt: number

  constructor(client: Client, store: Store, target: Target, runtime: Runtime) {
    this.#client = client
    this.#store = store
    this.#target = target
    this.#runtime = runtime
    this.#endsAt = runtime.now() + target.timeout
  }

  /** @throws CommandError for an invalid namespace or URL, or when the server cannot be reached. */
  static async open(target: Target, runtime: Runtime): Promise<Connection> {
    let isOpen = false
    const client = clientAt(target, () => isOpen)
    // The step that fails reports the error.
    client.on('error', () => undefined)
    const connection = new Connection(client, storeOn(client, target, runtime), target, runtime)
    try {
      await connection.within(client.connect(), target.timeout)
    } catch (error) {
      connection.close()
      throw error instanceof CommandError
        ? error
        : new CommandError(1, `${serverName(target)} cannot be reached: ${reasonOf(error)}.`, hintFor(error))
    }
    isOpen = true
    return connection
  }

  /** The server and the namespace, without credentials. */
  get name(): string {
    return `${serverName(this.#target)}, namespace '${this.#target.namespace}'`
  }

  get timeout(): number {
    return this.#target.timeout
  }

  get runtime(): Runtime {
    return this.#runtime
  }

  /** Runs a step of the store. `timeout`, ms: by default, what is left of the command's. @throws CommandError when the store is away. */
  async request<T extends { readonly kind: string }>(
    step: (store: Store) => Promise<T | Away>,
    timeout: number = Math.max(0, this.#endsAt - this.#runtime.now()),
  ): Promise<Exclude<T, Away>> {
    const answer = await this.within(step(this.#store), timeout)
    if (!isAway(answer)) return answer as Exclude<T, Away>
    throw new CommandError(1, `${serverName(this.#target)} refused: ${reasonOf(answer.cause)}.`, hintFor(answer.cause))
  }

  watch(listener: Parameters<Store['watch']>[0]): () => void {
    return this.#store.watch(listener)
  }

  /** Rejects with a CommandError after `timeout` ms, or with the error of `answer`. */
  async within<T>(answer: Promise<T>, timeout: number): Promise<T> {
    let stop = (): void => undefined
    const expired = new Promise<never>((_, reject) => {
      const expire = (): void => reject(timeoutError(this.#target))
      stop = this.#runtime.schedule(expire, timeout)
    })
    try {
      return await Promise.race([answer, expired])
    } finally {
      stop()
    }
  }

  /** Does not wait: a frozen server would never answer. */
  close(): void {
    void this.#store.close()
    if (this.#client.isOpen) this.#client.destroy()
  }
}

/** Creates a client that gives up at once if the first connection fails, and otherwise reconnects forever. */
function clientAt({ url, timeout }: Target, wasOpen: () => boolean): Client {
  try {
    return createClient({
      url,
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      socket: {
        connectTimeout: timeout,
        reconnectStrategy: (retries) =>
          wasOpen() ? Math.min(50 * 2 ** Math.min(retries, 10), MAX_RETRY_DELAY) : false,
      },
    })
  } catch (error) {
    throw new CommandError(
      2,
      `${masked(url)} is no valid URL: ${reasonOf(error)}.`,
      'Percent-encode the user and the password.',
    )
  }
}

function storeOn(client: Client, { namespace }: Target, runtime: Runtime): Store {
  try {
    return redisStore({ client, namespace, runtime })
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error
    throw new CommandError(
      2,
      `Option '--namespace' is '${namespace}'; accepted: ${error.accepted}.`,
      'Run cattlegrid --help.',
    )
  }
}

function isAway(answer: { readonly kind: string }): answer is Away {
  return answer.kind === 'away'
}

/** A URL without its credentials, also if it is malformed: messages end up in logs and tickets. */
export function masked(url: string): string {
  return url.replace(/^([a-z+]+:\/\/)?.*@/is, '$1***@')
}

function serverName({ url }: Target): string {
  return `Redis at ${masked(url)}`
}

function timeoutError(target: Target): CommandError {
  return new CommandError(
    1,
    `${serverName(target)} did not answer within ${formatDuration(target.timeout)}.`,
    'It may be frozen, overloaded, behind a firewall, or no Redis. Wait longer with --timeout 30s.',
  )
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
    'Check that the server is running there, or name another with --url or REDIS_URL.',
  ],
  [
    /NOAUTH|WRONGPASS|invalid username-password/,
    'Put the user and the password in the URL: redis://user:password@host:6379.',
  ],
  [/NOPERM/, 'The Redis user lacks a right that the store needs; docs/redis.md lists them.'],
  [/READONLY/, 'That server is a replica; name its master with --url.'],
  [/MOVED|CROSSSLOT|CLUSTERDOWN/, 'That server belongs to a cluster; this command works on single servers only.'],
  [/LOADING/, 'The server is loading its data; try again in a moment.'],
]

function hintFor(error: unknown): string {
  const reason = `${reasonOf(error)} ${error instanceof Error && 'code' in error ? String(error.code) : ''}`
  return (
    hints.find(([pattern]) => pattern.test(reason))?.[1] ??
    'Check that it is a Redis or Valkey that you may use, or name another with --url or REDIS_URL.'
  )
}
