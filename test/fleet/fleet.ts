import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { RefreshBudgetOptions } from '@cattlegrid/core'
import { createClient } from 'redis'
import type { Command, Ended } from './member.ts'
import { type Origin, startOrigin } from './origin.ts'
import { TestProcess } from './process.ts'
import { until } from '../support/until.ts'

export type { Door, Ended } from './member.ts'

export type Member = TestProcess<Command>
type Redis = Awaited<ReturnType<typeof connect>>

function testRedisUrl(): string {
  return process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
}

// Its type is inferred: the general type of a node-redis client is another one, and does not fit.
async function connect(url: string) {
  const client = createClient({ url })
  client.on('error', () => {})
  return await client.connect()
}

type AskOptions = (Command & { do: 'ask' })['options']

/** Lets that many callers of one process ask for a key at once; `path`: where its load asks the origin, unless under the key's name. */
export function ask(
  member: Member,
  key: string,
  callers: number,
  options: AskOptions = {},
  path: string = `/${key}`,
): Promise<Ended[]> {
  return member.tell<Ended[]>({ do: 'ask', keys: [key], callers, path, options })
}

/** The answer of a call that did not fail. */
export function value(ended: Ended | undefined): Ended & { kind: 'value' } {
  if (ended?.kind !== 'value') throw new Error(`No value: ${JSON.stringify(ended)}`)
  return ended
}

/** The different values of calls of which none failed. */
export function values(endings: readonly Ended[]): Set<string> {
  return new Set(endings.map((ended) => value(ended).value))
}

export interface FleetOptions {
  /** How many processes. Default: 4. */
  readonly size?: number
  /** A server of the test's own, which it may break. Default: the one of the test run. */
  readonly url?: string
  /** The nodes of a cluster, one of which `url` names. Default: `url` names a server by itself. */
  readonly rootNodes?: readonly { readonly url: string }[]
  /** Default: `'20s'`, since a Redis that gets no turn on a busy machine is slow, not away. */
  readonly storeTimeout?: string
  /** Default: none. */
  readonly refreshBudget?: RefreshBudgetOptions
}

/** Processes over one Redis, and the origin that counts their loads. */
export class Fleet {
  readonly members: readonly Member[]
  readonly origin: Origin
  readonly redis: Redis
  readonly #namespace: string

  private constructor(members: readonly Member[], origin: Origin, redis: Redis, namespace: string) {
    this.members = members
    this.origin = origin
    this.redis = redis
    this.#namespace = namespace
  }

  static async start(options: FleetOptions = {}): Promise<Fleet> {
    const { size = 4, url = testRedisUrl(), rootNodes = [], storeTimeout = '20s', refreshBudget = null } = options
    // Test files may share a process and always share the Redis: nothing shorter tells two fleets apart.
    const namespace = `fleet-${randomUUID()}`
    const origin = await startOrigin()
    const redis = await connect(url)
    const env = {
      FLEET_REDIS: url,
      FLEET_CLUSTER: JSON.stringify(rootNodes),
      FLEET_NAMESPACE: namespace,
      FLEET_ORIGIN: origin.url,
      FLEET_STORE_TIMEOUT: storeTimeout,
      FLEET_BUDGET: JSON.stringify(refreshBudget),
    }
    const file = join(__dirname, 'member.ts')
    const starts = Array.from({ length: size }, () => TestProcess.start<Command>(file, env))
    const members = await Promise.allSettled(starts)
    const running = members.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
    const fleet = new Fleet(running, origin, redis, namespace)
    if (running.length === size) return fleet
    await fleet.stop()
    throw new Error(`Only ${running.length} of ${size} processes started`)
  }

  member(index: number): Member {
    const member = this.members[index]
    if (member === undefined) throw new Error(`No member ${index}`)
    return member
  }

  /** The Redis key of a cache key's entry; `:l` behind it is that of its lease. */
  entryKey(key: string): string {
    return `${this.#namespace}:{${key}}`
  }

  leaseKey(key: string): string {
    return `${this.entryKey(key)}:l`
  }

  /** The name, or one with a number behind it: a key that the server at `url` holds, where that is a node of a cluster. */
  async keyAt(name: string): Promise<string> {
    for (let count = 1, key = name; ; count += 1, key = `${name}-${count}`) {
      const answer = await this.redis.exists(this.entryKey(key)).catch(String)
      if (typeof answer === 'number') return key
      if (!answer.includes('MOVED')) throw new Error(answer)
    }
  }

  /** Lets every process ask for a key at once, with so many callers each. */
  async everybody(key: string, callers: number = 50, options: AskOptions = {}): Promise<Ended[]> {
    return (await Promise.all(this.members.map((member) => ask(member, key, callers, options)))).flat()
  }

  /** How many loads there were under a key's own name. */
  loads(key: string): number {
    return this.origin.count(`/${key}`)
  }

  /** What the caches of all processes have told so far. */
  async events(): Promise<string[]> {
    return (await Promise.all(this.members.map((member) => member.tell<string[]>({ do: 'events' })))).flat()
  }

  /** Waits until the loads of every process are stored again, by the server at `url`. */
  async recovered(): Promise<void> {
    for (const member of this.members)
      await until(async () => {
        const [ended] = await ask(member, await this.keyAt(`recovered-${randomUUID()}`), 1)
        return ended?.kind === 'value' && ended.outcome?.kind === 'committed'
      })
  }

  /** Every entry key of the fleet that stands in Redis; the sequence of the tags is none. */
  async entryKeys(): Promise<string[]> {
    return (await this.redis.keys(`${this.#namespace}:{*}`)).filter(
      (key) => key.endsWith('}') && !key.endsWith(':{%tags}'),
    )
  }

  async stop(): Promise<void> {
    for (const member of this.members) member.resume()
    await Promise.all(this.members.map((member) => member.kill()))
    this.redis.destroy()
    await this.origin.close()
  }
}
