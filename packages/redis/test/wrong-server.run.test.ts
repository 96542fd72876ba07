import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { askRedis, untilRedis } from '../../../test/support/redis-ask.ts'

test.each([
  ['one node of a cluster', 'CLUSTER ADDSLOTSRANGE 0 8000', 'CLUSTERDOWN'],
  ['a node without slots', 'CLUSTER INFO', 'CLUSTERDOWN'],
])('ready() rejects at %s, and one warning names the cure', async (_, prepare, reason) => {
  const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-node-'))
  const server = await startRedis({ own: true, args: ['--dir', folder, '--cluster-enabled', 'yes'] })
  await askRedis(server.port, prepare)
  await untilRedis(server.port, 'CLUSTER INFO', (answer) => answer.includes('cluster_state:fail'))
  const cache = createCache({ store: redisStore({ url: server.url }), ttl: '1m' })
  const warnings: string[] = []
  cache.on('warning', ({ message }) => void warnings.push(message))
  const error = await cache.ready({ timeout: '2s' }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY', cause: { code: reason } })
  for (const key of ['a', 'b', 'c']) expect(await cache.getOrSet(key, () => key)).toBe(key)
  expect(warnings.filter((message) => message.includes('one node of a cluster'))).toHaveLength(1)
  expect(warnings.join(' ')).toContain('createCluster()')
  await cache.close({ drain: 0 })
  await server.stop()
  rmSync(folder, { recursive: true })
})

test('a url that leads to one node of a whole cluster is named at the first redirected step', async () => {
  const cluster = await startRedisCluster()
  const cache = createCache({ store: redisStore({ url: cluster.rootNodes[0]?.url }), ttl: '1m' })
  const warnings: string[] = []
  cache.on('warning', ({ message }) => void warnings.push(message))
  await cache.ready({ timeout: '1s' }).catch(() => undefined)
  for (let index = 0; index < 20; index += 1) await cache.getOrSet(`k${index}`, () => index)
  await cache.close({ drain: 0 })
  await cluster.stop()
  expect(warnings).toEqual([expect.stringMatching(/MOVED.*createCluster\(\)/)])
}, 60_000)
