import { type Away, InvalidOptionError, type Runtime, type Store } from '@cattlegrid/core'
import { createClient } from 'redis'
import { redisStore } from '../redis-store.ts'
import { Complaint, reasonOf } from './complaint.ts'
import { time } from './print.ts'

const LONGEST_PAUSE = 1000

/** Which cache a command speaks to, and how long it waits for it. */
export interface Target {
  readonly url: string
  readonly namespace: string
  /** For the whole of a command, ms; a command that watches: for its beginning. */
  readonly timeout: number
}

type Client = ReturnType<typeof createClient>

/** A store at the end of a wire that may be dead: what it answers comes in time, or a complaint does. */
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

  /** @throws Complaint for a namespace or a URL that cannot be one, or when the server is not there. */
  static async open(target: Target, runtime: Runtime): Promise<Connection> {
    let isOpen = false
    const client = clientAt(target, () => isOpen)
    // What fails is told by the step that fails.
    client.on('error', () => undefined)
    const connection = new Connection(client, storeOn(client, target, runtime), target, runtime)
    try {
      await connection.within(client.connect(), target.timeout)
    } catch (error) {
      connection.close()
      throw error instanceof Complaint
        ? error
        : new Complaint(1, `${where(target)} is away: ${reasonOf(error)}.`, cure(error))
    }
    isOpen = true
    return connection
  }

  /** The server and the namespace, as a person may see them. */
  get name(): string {
    return `${where(this.#target)}, namespace '${this.#target.namespace}'`
  }

  get timeout(): number {
    return this.#target.timeout
  }

  get runtime(): Runtime {
    return this.#runtime
  }

  /** What the store answers. `patience`, ms: by default what is left of the command's time. @throws Complaint */
  async ask<T extends { readonly kind: string }>(
    step: (store: Store) => Promise<T | Away>,
    patience: number = Math.max(0, this.#endsAt - this.#runtime.now()),
  ): Promise<Exclude<T, Away>> {
    const answer = await this.within(step(this.#store), patience)
    if (!isAway(answer)) return answer as Exclude<T, Away>
    throw new Complaint(1, `${where(this.#target)} refused: ${reasonOf(answer.cause)}.`, cure(answer.cause))
  }

  watch(listener: Parameters<Store['watch']>[0]): () => void {
    return this.#store.watch(listener)
  }

  /** @throws Complaint when `patience` ms pass first; else what `answer` rejects with. */
  async within<T>(answer: Promise<T>, patience: number): Promise<T> {
    let stop = (): void => undefined
    const late = new Promise<never>((_, reject) => {
      const complain = (): void => reject(tooLate(this.#target))
      stop = this.#runtime.schedule(complain, patience)
    })
    try {
      return await Promise.race([answer, late])
    } finally {
      stop()
    }
  }

  /** Waits for nothing: a frozen server would have the last word. */
  close(): void {
    void this.#store.close()
    if (this.#client.isOpen) this.#client.destroy()
  }
}

/** A client that gives up at once when the server is not there, and never once it was. */
function clientAt({ url, timeout }: Target, wasOpen: () => boolean): Client {
  try {
    return createClient({
      url,
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      socket: {
        connectTimeout: timeout,
        reconnectStrategy: (retries) => (wasOpen() ? Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE) : false),
      },
    })
  } catch (error) {
    throw new Complaint(2, `${masked(url)} cannot be used: ${reasonOf(error)}.`, 'Percent-encode user and password.')
  }
}

function storeOn(client: Client, { namespace }: Target, runtime: Runtime): Store {
  try {
    return redisStore({ client, namespace, runtime })
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error
    throw new Complaint(
      2,
      `Option '--namespace' is '${namespace}'; accepted: ${error.accepted}.`,
      'See cattlegrid --help.',
    )
  }
}

function isAway(answer: { readonly kind: string }): answer is Away {
  return answer.kind === 'away'
}

/** A URL without what proves who one is: messages end up in logs and tickets. Cut generously, a broken URL included. */
export function masked(url: string): string {
  return url.replace(/^([a-z+]+:\/\/)?.*@/is, '$1***@')
}

function where({ url }: Target): string {
  return `Redis at ${masked(url)}`
}

function tooLate(target: Target): Complaint {
  return new Complaint(
    1,
    `${where(target)} did not answer within ${time(target.timeout)}.`,
    'It is frozen, overloaded or behind a firewall, or it is no Redis. Wait longer with --timeout 30s.',
  )
}

const cures: readonly (readonly [RegExp, string])[] = [
  [
    /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
    'Is the server running there? Name another with --url or REDIS_URL.',
  ],
  [/NOAUTH|WRONGPASS|invalid username-password/, 'Give user and password in the URL: redis://user:password@host:6379.'],
  [/NOPERM/, 'The Redis user lacks a right that the store needs: docs/protocol.md lists them.'],
  [/READONLY/, 'That server is a replica: name its master.'],
  [/MOVED|CROSSSLOT|CLUSTERDOWN/, 'That server belongs to a cluster; this command speaks to single servers.'],
  [/LOADING/, 'The server is reading its data: try again in a moment.'],
]

function cure(error: unknown): string {
  const reason = `${reasonOf(error)} ${error instanceof Error && 'code' in error ? String(error.code) : ''}`
  return (
    cures.find(([pattern]) => pattern.test(reason))?.[1] ??
    'Is it a Redis or Valkey that you may use? Name another with --url or REDIS_URL.'
  )
}
