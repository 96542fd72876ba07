import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { type Cache, type CacheOptions, createCache } from '@cattlegrid/core'
import { type Diagnosis, explain, type ExplainOptions } from '@cattlegrid/explain'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { bundled } from './bundled.ts'
import { type Client, connect } from './redis-under-test.ts'
import { until } from './until.ts'

const MEMBER = resolve(__dirname, 'explain-member.ts')
export const namespace = 'test:explain'

/** A cache that is explained. */
export interface Joined {
  readonly cache: Cache
  readonly diagnosis: Diagnosis
}

/** A Redis of its own, and the caches and processes that explain a key to each other over it. */
export class ExplainStage {
  readonly server: RedisServer
  readonly admin: Client
  readonly #ends: (() => unknown)[] = []
  #joined = 0

  private constructor(server: RedisServer, admin: Client) {
    this.server = server
    this.admin = admin
  }

  static async open(): Promise<ExplainStage> {
    const server = await startRedis({ own: true })
    return new ExplainStage(server, await connect(server.url))
  }

  /** A cache with a connection of its own, as a process has it, whose notices arrive. */
  async join(name: string, options: CacheOptions = {}, explainOptions: ExplainOptions = {}): Promise<Joined> {
    const client = await connect(this.server.url)
    this.atEnd(() => client.destroy())
    const cache = createCache({ name, store: redisStore({ client, namespace }), ttl: '1m', ...options })
    const diagnosis = explain(cache, explainOptions)
    this.atEnd(() => cache.close({ drain: 0 }))
    const present = (this.#joined += 1)
    const channel = `${namespace}:wake`
    await until(async () => ((await this.admin.pubSubNumSub(channel))[channel] ?? 0) >= present)
    return { cache, diagnosis }
  }

  /** Another process, which leads the load of `k`. */
  async startLeader(): Promise<ChildProcess> {
    const args = [bundled(MEMBER), this.server.url, namespace, 'k']
    const leader = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.atEnd(() => leader.kill('SIGKILL'))
    await once(leader.stdout, 'data')
    return leader
  }

  /** The last one is called first. */
  atEnd(end: () => unknown): void {
    this.#ends.push(end)
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end()
    this.admin.destroy()
    await this.server.stop()
  }
}
