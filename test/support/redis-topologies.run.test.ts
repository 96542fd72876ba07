import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createCluster, createSentinel } from 'redis'
import { startRedisCluster } from './redis-cluster.ts'
import { startRedisSentinel } from './redis-sentinel.ts'

const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

const ours = `cattlegrid-cluster-${process.pid}-`
const folders = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith(ours))

describe('a cluster', () => {
  test('serves every slot, again when a replica took the place of a master that was killed, and leaves nothing behind', async () => {
    const servers = await startRedisCluster()
    stops.push(() => servers.stop())
    expect([servers.masters.length, servers.replicas.length]).toEqual([3, 3])
    const killed = await servers.killMaster(1)
    await servers.healed()
    const cluster = createCluster({ rootNodes: servers.rootNodes.filter(({ url }) => url !== killed.url) })
    cluster.on('error', () => undefined)
    await cluster.connect()
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`)
    await Promise.all(keys.map((key) => cluster.set(key, 'set')))
    expect(await Promise.all(keys.map((key) => cluster.get(key)))).toEqual(keys.map(() => 'set'))
    const [first, , third] = servers.masters
    const expected = [first, servers.replicas[1], third].map((node) => node?.port)
    expect(new Set(cluster.masters.map(({ port }) => port))).toEqual(new Set(expected))
    cluster.destroy()
    await servers.stop()
    expect(folders()).toEqual([])
  })

  test('has the same masters after one of them stalled, as on a busy machine', async () => {
    const servers = await startRedisCluster()
    stops.push(() => servers.stop())
    const [first] = servers.masters
    first?.pause()
    // Twice as long as a replica waits once a master was killed.
    await new Promise((resolve) => setTimeout(resolve, 4000))
    first?.resume()
    const cluster = await createCluster({ rootNodes: [...servers.rootNodes] }).connect()
    stops.push(() => cluster.close())
    expect(new Set(cluster.masters.map(({ port }) => port))).toEqual(new Set(servers.masters.map(({ port }) => port)))
  })

  test('has no master that it was not given', async () => {
    const servers = await startRedisCluster({ replicas: 0 })
    stops.push(() => servers.stop())
    expect(servers.replicas).toEqual([])
    await expect(servers.killMaster(3)).rejects.toThrow('no master 3')
  })

  test('of which a node cannot start says why, and ends the others', async () => {
    await expect(startRedisCluster({ args: ['--no-such-option', 'x'] })).rejects.toThrow('no-such-option')
    expect(folders()).toEqual([])
  })
})

describe('a master that Sentinel names', () => {
  test('is the replica once the master was killed', async () => {
    const servers = await startRedisSentinel({ name: 'shop' })
    stops.push(() => servers.stop())
    const { name, sentinelRootNodes, master, replica } = servers
    const connect = async () => {
      const sentinel = createSentinel({ name, sentinelRootNodes: [...sentinelRootNodes] })
      sentinel.on('error', () => undefined)
      return await sentinel.connect()
    }
    const before = await connect()
    expect(before.getMasterNode()?.port).toBe(master.port)
    await before.destroy()
    await servers.killMaster()
    await servers.promoted()
    const after = await connect()
    expect(after.getMasterNode()?.port).toBe(replica.port)
    expect(await after.set('k', 'set')).toBe('OK')
    await after.destroy()
  })
})

test('no server of a set-up outlives its starter, who is killed', async () => {
  const root = join(__dirname, '../..')
  const child = spawn(
    process.execPath,
    ['--import', '@cattlegrid/run-typescript', join(__dirname, 'topology-starter.ts')],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const exited = once(child, 'exit')
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  const pids = JSON.parse(said.toString()) as number[]
  expect(pids.filter(isAlive).length).toBe(8)
  child.kill('SIGKILL')
  await exited
  for (let look = 0; look < 500 && pids.some(isAlive); look += 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
  expect(pids.filter(isAlive)).toEqual([])
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
