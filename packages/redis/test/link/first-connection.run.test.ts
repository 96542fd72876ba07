import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { type Origin, startOrigin } from '../../../../test/fleet/origin.ts'
import { bundled } from '../../../../test/support/bundled.ts'
import { type RedisClusterServers, startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { type RedisSentinelServers, startRedisSentinel } from '../../../../test/support/redis-sentinel.ts'
import type { Task, Way } from './first-connection-member.ts'

const PROCESSES = 8
const keys = Array.from({ length: 10 }, (_, index) => `k${index}`)
const program = bundled(resolve(import.meta.dirname, 'first-connection-member.ts'))

let server: RedisServer
let cluster: RedisClusterServers
let sentinel: RedisSentinelServers
let origin: Origin

beforeAll(async () => {
  ;[server, cluster, sentinel, origin] = await Promise.all([
    startRedis({ own: true }),
    startRedisCluster(),
    startRedisSentinel(),
    startOrigin(),
  ])
}, 120_000)
afterAll(() => Promise.all([server.stop(), cluster.stop(), sentinel.stop(), origin.close()]))

interface Ended {
  readonly deleted: string
  /** The different ends of its calls. */
  readonly ended: readonly string[]
}

async function start(way: Way, namespace: string): Promise<Ended> {
  const url = way.includes('cluster') ? (cluster.rootNodes[0]?.url ?? '') : server.url
  const task: Task = { way, url, sentinels: sentinel.sentinelRootNodes, namespace, origin: origin.url, keys }
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(task)], { timeout: 90_000 })
  return JSON.parse(stdout) as Ended
}

const loads = (): number => keys.reduce((sum, key) => sum + origin.count(`/${key}`), 0)

const ways: readonly Way[] = [
  'url',
  'node-redis',
  'node-redis, cluster',
  'node-redis, Sentinel',
  'ioredis',
  'ioredis, ready',
  'ioredis, cluster',
  'ioredis, Sentinel',
]

test.each(ways)(
  'eight processes that start under traffic load each key once over a cold Redis, and none over a warm one: %s',
  async (way) => {
    const namespace = randomUUID()
    const start8 = (): Promise<Ended[]> => Promise.all(Array.from({ length: PROCESSES }, () => start(way, namespace)))
    const before = loads()
    const cold = await start8()
    expect(loads() - before).toBe(keys.length)
    // A load that was not stored would tell `abandoned`.
    const followed = 'loaded '
    for (const { ended } of cold)
      expect([followed, 'loaded committed', 'fresh']).toEqual(expect.arrayContaining([...ended]))
    const warm = await start8()
    expect(loads() - before).toBe(keys.length)
    expect(new Set(warm.flatMap(({ ended }) => ended))).toEqual(new Set(['fresh']))
    expect(new Set([...cold, ...warm].map(({ deleted }) => deleted))).toEqual(new Set(['done']))
  },
  180_000,
)
