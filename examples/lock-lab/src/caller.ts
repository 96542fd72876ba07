import type { Store } from '@cattlegrid/core'
import { type Lease, NO_VERSION, type Runtime, systemRuntime, type Version } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import type { CallerName, Client, Connections } from './servers.ts'

/** The clock that all callers share, in seconds. */
export interface Clock {
  seconds: number
}

/** One of the three callers that want the lock: a connection, a clock, and the variables that its code keeps between two commands. */
export class Caller {
  readonly name: CallerName
  /** Every caller is a process of its own, unless the interleaving says otherwise. */
  processId: number
  /** The lead of this caller's clock over the shared one, seconds. */
  clockAhead = 0
  /** The value that it loaded from the source and will write to the cache. */
  loaded = ''
  /** The token that it put into the lock. */
  token = ''
  /** The lease that cattlegrid's store granted. */
  lease: Lease | undefined
  /** The version of the entry that it read last. */
  seen: Version = NO_VERSION
  readonly #connections: Connections
  readonly #namespace: string
  readonly #clock: Clock
  #acquisitions = 0

  constructor(name: CallerName, connections: Connections, namespace: string, clock: Clock) {
    this.name = name
    this.processId = 7 + name.charCodeAt(0) - 'A'.charCodeAt(0)
    this.#connections = connections
    this.#namespace = namespace
    this.#clock = clock
  }

  get client(): Client {
    return this.#connections.of(this.name)
  }

  get keyPrefix(): string {
    return `${this.#namespace}:`
  }

  /** The time of day on this caller's host, seconds. */
  now(): number {
    return this.#clock.seconds + this.clockAhead
  }

  /** A token for one acquisition. Use a random one in production; this one is readable. */
  newToken(): string {
    this.#acquisitions += 1
    return `${this.name}${this.#acquisitions}`
  }

  /** cattlegrid's public store on this caller's connection and clock. It keeps nothing between two calls. */
  get store(): Store {
    return redisStore({ client: this.client, namespace: this.#namespace, runtime: this.#runtime() })
  }

  #runtime(): Runtime {
    const ahead = this.clockAhead * 1000
    return {
      ...systemRuntime,
      now: () => systemRuntime.now() + ahead,
      coarseNow: () => systemRuntime.coarseNow() + ahead,
      timeOfDay: () => systemRuntime.timeOfDay() + ahead,
    }
  }
}

/** A key that is shown by this name and kept under the prefix of the run. */
export interface Key {
  readonly key: string
}

export const LOCK: Key = { key: 'lock' }
export const ENTRY: Key = { key: 'entry' }

/** One message to the server. The server executes it in one step; anything may happen between two of them. */
export interface Command {
  readonly text: string
  send(caller: Caller): Promise<unknown>
}

/** A caller's code: it yields its commands and receives the replies, so that the lab can pause it between two commands. */
export type Program<Result> = Generator<Command, Result, unknown>

type Argument = string | number | Key

/** A Redis command. */
export function redis(...args: readonly Argument[]): Command {
  return { text: textOf(args), send: ({ client, keyPrefix }) => client.sendCommand(argumentsOf(args, keyPrefix)) }
}

/** Commands between MULTI and EXEC: executed in one step, with a reply each. */
export function multi(...commands: readonly (readonly Argument[])[]): Command {
  return {
    text: `MULTI ${commands.map(textOf).join(', ')} EXEC`,
    async send({ client, keyPrefix }) {
      const transaction = client.multi()
      for (const args of commands) transaction.addCommand(argumentsOf(args, keyPrefix))
      return await transaction.exec()
    },
  }
}

/** A Lua script, shown by its name. */
export interface Script {
  readonly name: string
  readonly source: string
}

export function lua({ name, source }: Script, key: Key, ...args: readonly (string | number)[]): Command {
  return {
    text: textOf(['EVAL', `(${name})`, key, ...args]),
    send: ({ client, keyPrefix }) => client.sendCommand(argumentsOf(['EVAL', source, 1, key, ...args], keyPrefix)),
  }
}

/** A call of cattlegrid's store, shown by `text`. */
export function call(text: string, send: (caller: Caller) => Promise<unknown>): Command {
  return { text, send }
}

function textOf(args: readonly Argument[]): string {
  return args.map((one) => (typeof one === 'object' ? one.key : String(one))).join(' ')
}

function argumentsOf(args: readonly Argument[], keyPrefix: string): string[] {
  return args.map((one) => (typeof one === 'object' ? keyPrefix + one.key : String(one)))
}
