import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createCache, json, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { askRedis, untilRedis } from '../../../../test/support/redis-ask.ts'
import { entryOf, found, isFresh, lead, LONG, put, request } from '../../../../test/support/entries.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

// Services that put one address in front of all slots: a client of one server works, but no command may name keys of two slots.

let folder: string
let server: RedisServer
let clients: readonly Client[]
let stores: readonly [Store, Store]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cattlegrid-slots-'))
  server = await startRedis({ own: true, args: ['--dir', folder, '--cluster-enabled', 'yes'] })
  await askRedis(server.port, 'CLUSTER ADDSLOTSRANGE 0 16383')
  await untilRedis(server.port, 'CLUSTER INFO', (answer) => answer.includes('cluster_state:ok'))
  const [first, second] = await Promise.all([connect(server.url), connect(server.url)])
  clients = [first, second]
  stores = [redisStore({ client: first, namespace: 'shop' }), redisStore({ client: second, namespace: 'shop' })]
})
afterAll(async () => {
  for (const store of stores) await store.close()
  for (const client of clients) client.destroy()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('a client of one server, in front of all slots of a cluster', () => {
  test('loads once for two processes', async () => {
    const caches = stores.map((store) => createCache({ store, ttl: '1h' }))
    let loads = 0
    const load = async (): Promise<string> => {
      loads += 1
      await new Promise((resolve) => setTimeout(resolve, 50))
      return 'loaded'
    }
    const values = await Promise.all(caches.map((cache) => cache.getOrSet('loaded', load, { tags: ['a tag'] })))
    expect([values, loads]).toEqual([['loaded', 'loaded'], 1])
  })

  test('refuses the commit of a load whose tag was invalidated meanwhile, and wakes those that wait', async () => {
    const [store, other] = stores
    const heard: Notice['kind'][] = []
    other.watch(({ kind }) => void heard.push(kind))
    await until(() => heard.includes('connected'))
    const lease = await lead(store, 'late')
    expect((await other.acquire('late', { ...request, wake: true })).kind).toBe('held')
    expect((await other.invalidateTags(['a tag'], 'delete')).kind).toBe('done')
    expect(await store.commit(lease, entryOf(1, { tags: ['a tag'] }), json)).toMatchObject({ kind: 'refused' })
    await until(() => heard.includes('released'))
  })

  test('reads what another process has put, expired and deleted', async () => {
    const [store, other] = stores
    await put(store, 'k', 'put', { staleWhileRevalidate: LONG })
    expect((await found(other, 'k')).value).toBe('put')
    await store.invalidate('k', 'expire', 0)
    expect(await isFresh(other, 'k')).toBe(false)
    await store.invalidate('k', 'delete', 0)
    expect((await other.read('k', json)).kind).toBe('missing')
  })

  test('rejects a put with tags and a clear, which name keys of two slots', async () => {
    const [store] = stores
    await Promise.all(['a', 'b', 'c'].map((key) => put(store, key, key)))
    const crossed = { kind: 'away', cause: { message: expect.stringContaining('CROSSSLOT') } }
    expect(await store.put('k', entryOf(1, { tags: ['a tag'] }), json)).toMatchObject(crossed)
    expect(await store.clear()).toMatchObject(crossed)
  })
})
