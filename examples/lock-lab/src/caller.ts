import { type Lease, NO_VERSION, type Runtime, type Store, systemRuntime, type Version } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import type { Client, Connections } from './worlds/connections.ts'

export type Name = 'A' | 'B' | 'C'

/** The clock that all callers share, in seconds; a caller's own may run ahead of it. */
export interface Clock {
  seconds: number
}

/** One of the three who want the lock: a connection, a clock, and what its code remembers between two commands. */
export class Caller {
  readonly name: Name
  /** The process that it runs in: its own, unless the play says otherwise. */
  processId: number
  /** How far its clock is ahead of the others', seconds. */
  clockAhead = 0
  /** The value it read from the source, to be written to the cache. */
  loaded = ''
  /** What it put into the lock to know it by. */
  token = ''
  /** What cattlegrid's store handed to it. */
  lease: Lease | undefined
  /** The version of the entry it read last. */
  seen: Version = NO_VERSION
  readonly #connections: Connections
  readonly #namespace: string
  readonly #clock: Clock
  #acquisitions = 0

  constructor(name: Name, connections: Connections, namespace: string, clock: Clock) {
    this.name = name
    this.processId = 7 + name.charCodeAt(0) - 'A'.charCodeAt(0)
    this.#connections = connections
    this.#namespace = namespace
    this.#clock = clock
  }

  get client(): Client {
    return this.#connections.of(this.name)
  }

  get prefix(): string {
    return `${this.#namespace}:`
  }

  /** The time of day where it runs, seconds. */
  now(): number {
    return this.#clock.seconds + this.clockAhead
  }

  /** Unique for each acquisition. Random in real life; here it can be read. */
  freshToken(): string {
    this.#acquisitions += 1
    return `${this.name}${this.#acquisitions}`
  }

  /** cattlegrid's public store, on this caller's connection and under its clock. It keeps nothing that outlives a call. */
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
