import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Member } from './member-client.js'
import { Redis, Relay } from './redis.js'
import { Source } from './source-client.js'

export interface StageOptions {
  /** How long a value is fresh, ms; default: a minute. */
  readonly ttl?: number
  /** How long it may be served after that, ms; default: 0. */
  readonly stale?: number
  /** The way to Redis takes so long, ms, and can be cut. */
  readonly latency?: number
  /** Arguments of the Redis server. */
  readonly redisArgs?: readonly string[]
}

/** All that one check plays with. Nothing of it is shared with another check. */
export class Stage {
  readonly source: Source
  readonly redis: Redis
  readonly relay: Relay | undefined
  members: readonly Member[] = []

  private constructor(source: Source, redis: Redis, relay: Relay | undefined) {
    this.source = source
    this.redis = redis
    this.relay = relay
  }

  static async open(driverFile: string, processes: number, options: StageOptions): Promise<Stage> {
    const { ttl = 60_000, stale = 0, latency, redisArgs = [] } = options
    const [source, redis] = await Promise.all([Source.start(), Redis.start(redisArgs)])
    const relay = latency === undefined ? undefined : await Relay.start(redis.url, latency)
    const stage = new Stage(source, redis, relay)
    const open = { redisUrl: (relay ?? redis).url, prefix: `suite-${randomUUID().slice(0, 8)}`, ttl, stale }
    try {
      stage.members = await Promise.all(
        Array.from({ length: processes }, () => Member.start(driverFile, source.url, open)),
      )
    } catch (error) {
      await stage.close()
      throw error
    }
    return stage
  }

  /** The process of this number. */
  member(index: number): Member {
    const member = this.members[index]
    if (member === undefined) throw new RangeError(`The check plays with ${this.members.length} processes`)
    return member
  }

  /** Waits until the source has begun so many loads of the key; after a while it goes on in any case. */
  async begun(key: string, loads = 1): Promise<void> {
    for (let tries = 0; tries < 200; tries += 1) {
      if ((await this.source.count(key)).began >= loads) return
      await sleep(25)
    }
  }

  /** Waits until the process sees this value, and says whether it did. */
  async sees(member: Member, key: string, value: unknown, within: number): Promise<boolean> {
    const end = performance.now() + within
    while (performance.now() < end) {
      if ((await member.get(key)).value === value) return true
      await sleep(50)
    }
    return false
  }

  async close(): Promise<void> {
    for (const member of this.members) {
      member.resume()
      member.kill()
    }
    this.relay?.stop()
    this.redis.resume()
    await this.redis.kill()
    this.source.stop()
  }
}
