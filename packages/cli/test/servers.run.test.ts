import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createCluster } from 'redis'
import { type RedisClusterServers, startRedisCluster } from '../../../test/support/redis-cluster.ts'
import { cattlegrid, rowsOf, start } from './support/cli.ts'
import { LONG, put } from '../../../test/support/entries.ts'
import { connect } from '../../../test/support/redis-under-test.ts'
import { until } from '../../../test/support/until.ts'

let server: RedisServer
let cluster: RedisClusterServers

beforeAll(async () => {
  server = await startRedis({ own: true })
  const admin = await connect(server.url)
  await admin.sendCommand(['ACL', 'SETUSER', 'me', 'on', '>s3cret', '~*', '&*', '+@all'])
  await admin.close()
  cluster = await startRedisCluster({ replicas: 0 })
})
afterAll(async () => {
  await server.stop()
  await cluster.stop()
})

test('inspects, deletes and watches', async () => {
  const client = await connect(server.url)
  const namespace = `test:${randomUUID()}`
  const store = redisStore({ client, namespace })
  await put(store, 'k', 1)
  const url = server.url.replace('//', '//me:s3cret@')
  const rest = ['--namespace', namespace, '--timeout', '20s']
  expect(rowsOf((await cattlegrid(['inspect', 'k', ...rest], url)).out)).toMatchObject({ state: 'fresh' })
  const running = start(['watch', ...rest], url)
  await until(() => running.err.includes('Press Ctrl-C to stop.'))
  expect(await cattlegrid(['delete', 'k', ...rest], url)).toMatchObject({ code: 0, out: 'deleted  k\n' })
  await until(() => running.out.includes('deleted    k\n'))
  running.child.kill('SIGINT')
  expect((await running.ended).code).toBe(0)
  await store.close()
  await client.close()
})

test('says that the password is wrong, and does not show it', async () => {
  const url = server.url.replace('//', '//me:wr0ng@')
  const { code, err } = await cattlegrid(['inspect', 'k', '--timeout', '20s'], url)
  expect(code).toBe(1)
  expect(err).toContain('Put the user and the password in the URL')
  expect(err).not.toMatch(/wr0ng|^\s+at /m)
})

test('says that no server is there', async () => {
  const { code, err } = await cattlegrid(['inspect', 'k', '--timeout', '20s'], 'redis://127.0.0.1:1')
  expect(code).toBe(1)
  expect(err).toContain('ECONNREFUSED')
  expect(err).toContain('name another with --url or REDIS_URL')
})

test('says that the server did not answer in time', async () => {
  const frozen = await startRedis({ own: true })
  frozen.pause()
  try {
    const { code, err } = await cattlegrid(['inspect', 'k', '--timeout', '1s'], frozen.url)
    expect([code, err]).toEqual([1, expect.stringContaining('did not answer within 1.0 s')])
  } finally {
    frozen.resume()
    await frozen.stop()
  }
})

test('reaches every master of a cluster from the URL of one', async () => {
  const client = createCluster({ rootNodes: [...cluster.rootNodes] })
  await client.connect()
  const namespace = `test:${randomUUID()}`
  const store = redisStore({ client, namespace })
  const keys = Array.from({ length: 12 }, (_each, index) => `key ${index}`)
  for (const key of keys) await put(store, key, key, { tags: ['shop'], staleIfError: LONG })
  const url = cluster.masters[0]?.url
  const rest = ['--namespace', namespace, '--timeout', '20s']
  const { out } = await cattlegrid(['inspect', 'key 7', ...rest], url)
  expect(rowsOf(out)).toMatchObject({ state: 'fresh', value: "'key 7'", tags: 'shop' })
  expect(await cattlegrid(['expire', ...keys, ...rest, '--json'], url)).toMatchObject({
    code: 0,
    out: `${JSON.stringify({ expired: keys, unconfirmed: [] })}\n`,
    err: '',
  })
  expect(await cattlegrid(['tags', 'shop', ...rest], url)).toMatchObject({ code: 0, err: '' })
  const missing = await cattlegrid(['inspect', 'k', '--namespace', `${namespace}x`, '--timeout', '20s'], url)
  expect(rowsOf(missing.out)['note']).toContain(namespace)
  await store.close()
  client.destroy()
})
