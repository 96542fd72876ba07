import { type Cache, createCache, type Store } from '@cattlegrid/core'
import { type Away, formatDuration, type Inspection, type Runtime } from '@cattlegrid/core/extend'
import { type AskedProcesses, type Diagnosis, explain } from '@cattlegrid/explain'
import { type RedisAdmin, redisAdmin } from '@cattlegrid/redis/admin'
import { CommandError, reasonOf } from './command-error.ts'
import { httpCodec } from './http-value.ts'
import { type OpenClient, openServer } from './server.ts'

/** The cache that a command works on, and how long the command waits for it. */
export interface Target {
  readonly url: string
  readonly namespace: string
  /** For the whole command; for `watch`, until notices arrive, ms. */
  readonly timeout: number
}

/** What asks the other processes. */
interface Asking {
  readonly cache: Cache
  readonly diagnosis: Diagnosis
}

/** The share of the time left that processes may take to answer: one that is frozen takes all of it. */
const ASKING_SHARE = 0.2
/** The shortest that a cache accepts, ms. */
const SHORTEST_STORE_TIMEOUT = 10

/** A store behind a connection that may be dead: every call answers in time or throws a CommandError. */
export class Connection {
  readonly runtime: Runtime
  readonly target: Target
  readonly #admin: RedisAdmin
  readonly #closeClient: () => void
  readonly #endsAt: number
  #asking: Asking | undefined

  constructor({ client, close }: OpenClient, runtime: Runtime, target: Target, endsAt: number) {
    const { namespace, timeout } = target
    // A silent server is reported after `timeout`, before the store gives its connection up.
    const watchdog = Math.min(60_000, Math.max(100, 3 * timeout))
    this.#admin = redisAdmin({ client, namespace, runtime, watchdog })
    this.#closeClient = close
    this.runtime = runtime
    this.target = target
    this.#endsAt = endsAt
  }

  /** @throws CommandError when the server cannot be reached. */
  static async open(target: Target, runtime: Runtime): Promise<Connection> {
    try {
      const endsAt = runtime.elapsed() + target.timeout
      const opening = openServer(target.url, target.timeout)
      const opened = await within(opening, target, target.timeout, runtime)
      const connection = new Connection(opened, runtime, target, endsAt)
      await connection.within(connection.#admin.store.starting ?? Promise.resolve(), connection.timeLeft)
      return connection
    } catch (error) {
      if (error instanceof CommandError) throw error
      throw new CommandError(1, `${serverName(target)} cannot be reached: ${reasonOf(error)}.`, hintFor(error))
    }
  }

  /** The server and the namespace, without credentials. */
  get name(): string {
    return `${serverName(this.target)}, namespace '${this.target.namespace}'`
  }

  /** What is left of the command's time, ms. */
  get timeLeft(): number {
    return Math.max(0, this.#endsAt - this.runtime.elapsed())
  }

  /**
   * Runs a step of the store. `timeout`, ms: by default, what is left of the command's.
   *
   * @throws CommandError when the store is away.
   */
  async request<T extends { readonly kind: string }>(
    step: (store: Store) => Promise<T | Away>,
    timeout: number = this.timeLeft,
  ): Promise<Exclude<T, Away>> {
    const answer = await this.within(step(this.#admin.store), timeout)
    if (answer.kind === 'away') throw this.#refusal((answer as Away).cause)
    return answer as Exclude<T, Away>
  }

  /**
   * Sends commands that are no step of a store.
   *
   * @throws CommandError when they are refused, or not answered in what is left of the command's time.
   */
  async ask<T>(send: (admin: RedisAdmin) => Promise<T>): Promise<T> {
    try {
      return await this.within(send(this.#admin), this.timeLeft)
    } catch (error) {
      throw error instanceof CommandError ? error : this.#refusal(error)
    }
  }

  /** The pages of a search. @throws CommandError as `ask`, for each page. */
  async *search<Page>(begin: (admin: RedisAdmin) => AsyncGenerator<Page>): AsyncGenerator<Page> {
    const pages = begin(this.#admin)
    for (;;) {
      const page = await this.ask(() => pages.next())
      if (page.done === true) return
      yield page.value
    }
  }

  /**
   * The entry, the lease and the cooldown of a key. The value of an HTTP response comes as `HttpBytes`.
   *
   * @throws CommandError as `ask`.
   */
  inspect(key: string): Promise<Inspection> {
    return this.ask((admin) => admin.inspect(key, [httpCodec]))
  }

  /**
   * Asks the processes that use the namespace, by a cache that keeps nothing and so is none of them.
   * `timeout`: for their answers, ms.
   *
   * @throws CommandError when they cannot be asked, or when the server does not answer in what is left of the
   * command's time.
   */
  async askProcesses<T extends AskedProcesses>(
    question: (diagnosis: Diagnosis, timeout: number) => Promise<T>,
  ): Promise<T> {
    const askFor = Math.ceil(this.timeLeft * ASKING_SHARE)
    const { diagnosis } = (this.#asking ??= this.#openCache())
    const report = await this.within(question(diagnosis, askFor), this.timeLeft)
    if (report.problem === undefined) return report
    throw new CommandError(1, report.problem, 'The state of a key needs no other process: cattlegrid inspect <key>.')
  }

  #openCache(): Asking {
    const { runtime } = this
    const storeTimeout = Math.max(SHORTEST_STORE_TIMEOUT, Math.ceil(this.timeLeft))
    const cache = createCache({ store: this.#admin.store, runtime, storeTimeout })
    // Warnings are for the processes that serve.
    cache.on('warning', () => undefined)
    return { cache, diagnosis: explain(cache, { history: 0, hotKeys: 0 }) }
  }

  watch(listener: Parameters<Store['watch']>[0]): () => void {
    return this.#admin.store.watch(listener)
  }

  /** Rejects with a CommandError after `timeout` ms, or with the error of `answer`. */
  within<T>(answer: Promise<T>, timeout: number): Promise<T> {
    return within(answer, this.target, timeout, this.runtime)
  }

  /** Does not wait: a frozen server would never answer. */
  close(): void {
    void (this.#asking?.cache.close({ drain: 0 }) ?? this.#admin.store.close())
    this.#closeClient()
  }

  #refusal(cause: unknown): CommandError {
    return new CommandError(1, `${serverName(this.target)} refused: ${reasonOf(cause)}.`, hintFor(cause))
  }
}

async function within<T>(answer: Promise<T>, target: Target, timeout: number, runtime: Runtime): Promise<T> {
  let stop = (): void => undefined
  const expired = new Promise<never>((_, reject) => {
    const expire = (): void =>
      reject(
        new CommandError(
          1,
          `${serverName(target)} did not answer within ${formatDuration(target.timeout)}.`,
          'It may be frozen, overloaded, behind a firewall, or no Redis. Wait longer with --timeout 30s.',
        ),
      )
    stop = runtime.schedule(expire, timeout)
  })
  try {
    return await Promise.race([answer, expired])
  } finally {
    stop()
  }
}

function serverName({ url }: Target): string {
  const { protocol, username, password, host, pathname } = new URL(url)
  return `Redis at ${protocol}//${username + password === '' ? '' : '***@'}${host}${pathname}`
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
  [/MOVED|CROSSSLOT|CLUSTERDOWN|TRYAGAIN/, 'The cluster is not complete, or a slot is moving; try again in a moment.'],
  [/LOADING/, 'The server is loading its data; try again in a moment.'],
]

function hintFor(error: unknown): string {
  const reason = `${reasonOf(error)} ${error instanceof Error && 'code' in error ? String(error.code) : ''}`
  return (
    hints.find(([pattern]) => pattern.test(reason))?.[1] ??
    'Check that it is a Redis or Valkey that you may use, or name another with --url or REDIS_URL.'
  )
}
