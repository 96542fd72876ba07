import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { startRedisSentinel } from '../support/redis-sentinel.ts'
import { type Origin, startOrigin } from '../fleet/origin.ts'
import { TestProcess } from '../fleet/process.ts'
import type { Topology, TopologyCommand, Traffic } from './topology-member.ts'

type Member = TestProcess<TopologyCommand>

const PROCESSES = 3
const CALLERS = 20
/** Enough that every master has some. */
const KEYS = 60
/** No caller waits that long for anything but a machine that is out of breath: `storeTimeout` is 1 s, a load a few ms. */
const HANGING = 20_000

const stops: (() => Promise<unknown>)[] = []
const figures: string[] = []

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})
afterAll(() => {
  process.stdout.write(`${figures.join('\n')}\n`)
})

interface SetUp {
  readonly members: readonly Member[]
  readonly origin: Origin
}

async function start(topology: Topology): Promise<SetUp> {
  const origin = await startOrigin()
  stops.push(() => origin.close())
  const env = { TOPOLOGY: JSON.stringify(topology), TOPOLOGY_ORIGIN: origin.url }
  const file = join(__dirname, 'topology-member.ts')
  const starts = Array.from({ length: PROCESSES }, async () => {
    const member = await TestProcess.start<TopologyCommand>(file, env)
    stops.push(() => member.kill())
    return member
  })
  return { members: await Promise.all(starts), origin }
}

function everybody<T>({ members }: SetUp, command: TopologyCommand): Promise<T[]> {
  return Promise.all(members.map((member) => member.tell<T>(command)))
}

/** How many loads it took when all callers of all processes asked at once, and different values they got, for each key. */
async function loadsPerKey(setUp: SetUp, wave: string): Promise<readonly (readonly [loads: number, values: number])[]> {
  const keys = Array.from({ length: KEYS }, (_, index) => `${wave}-${index}`)
  const answers = (await everybody<string[]>(setUp, { do: 'ask', keys, callers: CALLERS / 4 })).flat()
  return keys.map((key) => {
    const values = new Set(answers.filter((answer) => answer.startsWith(`/${key} `)))
    return [setUp.origin.count(`/${key}`), values.size]
  })
}

const onceEach = Array.from({ length: KEYS }, () => [1, 1])

/** Kills the master under load; answers the slowest call, ms. */
async function losesItsMaster(name: string, topology: Topology, kill: () => Promise<unknown>): Promise<number> {
  const setUp = await start(topology)
  await everybody(setUp, { do: 'recover', keys: KEYS })
  expect(await loadsPerKey(setUp, 'before')).toEqual(onceEach)
  await everybody(setUp, { do: 'traffic', callers: CALLERS, keys: KEYS })
  await new Promise((resolve) => setTimeout(resolve, 500))
  await kill()
  const firsts = await everybody<number>(setUp, { do: 'recover', keys: KEYS })
  expect(await loadsPerKey(setUp, 'after')).toEqual(onceEach)
  const traffic = await everybody<Traffic>(setUp, { do: 'rest' })
  expect(traffic.flatMap(({ errors }) => errors)).toEqual([])
  const slowest = Math.max(...traffic.map((one) => one.slowest))
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const answers = traffic.reduce((sum, one) => sum + one.answers, 0)
  figures.push(
    `${name}: every key stored again after ${firsts.map(seconds).join(', ')}; ${answers} answers, 0 errors, slowest ${seconds(slowest)}`,
  )
  return slowest
}

describe('a master that is killed under load', () => {
  it.each([
    ['a cluster, client with default options', {}],
    ['a cluster, client that looks for a new topology at once', { topologyRefreshOnReconnectionAttemptStrategy: 200 }],
  ])(
    '%s: fails and hangs nobody, and each key is loaded once again after the promotion',
    async (name, options) => {
      const servers = await startRedisCluster()
      stops.push(() => servers.stop())
      const rootNodes = servers.rootNodes.map(({ url }) => ({ url }))
      const slowest = await losesItsMaster(name, { kind: 'cluster', rootNodes, ...options }, () => servers.killMaster())
      expect(slowest).toBeLessThan(HANGING)
    },
    120_000,
  )

  it('of Sentinel: fails and hangs nobody, and each key is loaded once again after the promotion', async () => {
    const servers = await startRedisSentinel()
    stops.push(() => servers.stop())
    const sentinelRootNodes = servers.sentinelRootNodes.map(({ host, port }) => ({ host, port }))
    const slowest = await losesItsMaster('Sentinel', { kind: 'sentinel', name: servers.name, sentinelRootNodes }, () =>
      servers.killMaster(),
    )
    expect(slowest).toBeLessThan(HANGING)
  }, 120_000)
})
