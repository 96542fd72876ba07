import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'
import { startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { askRedis, untilRedis } from '../../../test/support/redis-ask.ts'
import { until } from '../../../test/support/until.ts'

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

const readyError = (cache: Cache): Promise<unknown> =>
  cache.ready({ timeout: '500ms' }).catch((thrown: unknown) => thrown)

function warningsOf(cache: Cache): readonly string[] {
  const warnings: string[] = []
  cache.on('warning', ({ message }) => void warnings.push(message))
  return warnings
}

test.each([
  ['that names them otherwise', ['--rename-command', 'EVAL', '', '--rename-command', 'EVALSHA', ''], 'ERR'],
  [
    'whose user has no right to them',
    ['--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-@scripting'],
    'NOPERM',
  ],
])(
  'ready() and invalidations reject on a server without scripts, %s, and one warning names the cure',
  async (_, args, code) => {
    const server = await startRedis({ own: true, args })
    const cache = createCache({ store: redisStore({ url: server.url }), ttl: '1m' })
    const warnings = warningsOf(cache)
    const away = { code: 'CATTLEGRID_STORE_AWAY', cause: { code } }
    expect(await readyError(cache)).toMatchObject(away)
    for (const key of ['a', 'b', 'c']) expect(await cache.getOrSet(key, () => key)).toBe(key)
    await expect(cache.invalidateTags(['t'])).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    await expect(cache.delete('a')).rejects.toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    expect(warnings).toEqual([expect.stringContaining('(+eval +evalsha)')])
    await cache.close({ drain: 0 })
    await server.stop()
  },
)

/** No such server is at hand: a real one gets PEXPIRE without its last argument, whose number is wrong, too. */
async function oldServer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = await startRedis({ own: true })
  const proxy = createServer((socket) => {
    const upstream = connect(server.port, '127.0.0.1')
    for (const end of [socket, upstream]) end.on('error', () => undefined)
    socket.on('close', () => upstream.destroy())
    upstream.pipe(socket)
    socket.on('data', (bytes: Buffer) => {
      upstream.write(Buffer.from(bytes.toString('latin1').replaceAll(`, '1', 'LT')`, `)${' '.repeat(11)}`), 'latin1'))
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      proxy.close()
      await server.stop()
    },
  }
}

test('ready() rejects on a server older than 7, which does not know PEXPIRE with LT, and one warning names the cure', async () => {
  const server = await oldServer()
  const cache = createCache({ store: redisStore({ url: server.url }), ttl: '1m' })
  const warnings = warningsOf(cache)
  expect(await readyError(cache)).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY', cause: { code: 'ERR' } })
  expect(warnings).toEqual([expect.stringContaining('Redis 7 or later')])
  await cache.close({ drain: 0 })
  await server.stop()
})

test('a server older than 7 is named once by a process that never calls ready()', async () => {
  const server = await oldServer()
  const cache = createCache({ store: redisStore({ url: server.url }), ttl: '1m' })
  const warnings = warningsOf(cache)
  await until(() => warnings.length > 0)
  expect(await readyError(cache)).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
  expect(warnings).toEqual([expect.stringContaining('Redis 7 or later')])
  await cache.close({ drain: 0 })
  await server.stop()
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
