import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createClient } from 'redis'
import type { Command, Ended } from './member.ts'
import { type Origin, startOrigin } from './origin.ts'
import { TestProcess } from './process.ts'

export type { Ended } from './member.ts'

type Member = TestProcess<Command>
type Redis = Awaited<ReturnType<typeof connect>>

// Its type is inferred: the general type of a node-redis client is another one, and does not fit.
async function connect(url: string) {
  const client = createClient({ url })
  client.on('error', () => {})
  return await client.connect()
}

/** Lets that many callers of one process ask for a key at once. */
export function ask(
  member: Member,
  key: string,
  callers: number,
  options: (Command & { do: 'ask' })['options'] = {},
): Promise<Ended[]> {
  return member.tell<Ended[]>({ do: 'ask', key, callers, path: `/${key}`, options })
}

/** Four processes over one Redis, and the origin that counts their loads. */
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

  static async start(size = 4): Promise<Fleet> {
    const url = process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''
    // Test files may share a process and always share the Redis: nothing shorter tells two fleets apart.
    const namespace = `fleet-${randomUUID()}`
    const origin = await startOrigin()
    const redis = await connect(url)
    const env = { FLEET_REDIS: url, FLEET_NAMESPACE: namespace, FLEET_ORIGIN: origin.url }
    const members = await Promise.all(
      Array.from({ length: size }, () => TestProcess.start<Command>(join(__dirname, 'member.ts'), env)),
    )
    return new Fleet(members, origin, redis, namespace)
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

/** Longer than any machine needs; a loop without an end would outlive the test that failed in it. */
const PATIENCE = 30_000

/** Looks until it is so. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const begun = performance.now()
  while (!(await holds())) {
    if (performance.now() - begun > PATIENCE) throw new Error(`Not within ${PATIENCE} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
