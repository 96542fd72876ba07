import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { redisStore } from '@cattlegrid/redis'
import { describeStoreContract, type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createCluster } from 'redis'
import { type RedisClusterServers, startRedisCluster } from '../../../../test/support/redis-cluster.ts'
import { entryOf, put, request } from '../../../../test/support/entries.ts'
import { type Client, connect, openStores } from '../../../../test/support/redis-under-test.ts'
import { until } from '../../../../test/support/until.ts'

/** As the page for the users says it, for a namespace of its own. */
const page = readFileSync(join(__dirname, '../../../../docs/redis.md'), 'utf8')
const [single = [], clustered = []] = Array.from(page.matchAll(/^ACL SETUSER shop (.*)$/gm), ([, rules = '']) =>
  rules.replaceAll('shop:', 'test:').split(' '),
)

const rightsOf = (name: string, ...rules: readonly string[]): string[] => ['ACL', 'SETUSER', name, ...rules]

describe('a Redis user with the rights that docs/redis.md lists', () => {
  test('has no others: the list begins by taking away all', () => {
    expect([single.includes('-@all'), single.length > 10, clustered.length]).toEqual([true, true, 3])
  })

  describe('on one server', () => {
    let server: RedisServer
    let admin: Client

    beforeAll(async () => {
      server = await startRedis({ own: true })
      admin = await connect(server.url)
      await admin.sendCommand(rightsOf('app', ...single))
    })
    afterAll(async () => {
      admin.destroy()
      await server.stop()
    })

    const view = () => connect(server.url.replace('//', '//app:password@'))
    describeStoreContract('Redis', async () => openStores(view), { describe, test })

    test('is never refused anything', async () => {
      expect(await admin.sendCommand(['ACL', 'LOG'])).toEqual([])
    })
  })

  describe('on a cluster', () => {
    let servers: RedisClusterServers
    let admins: readonly Client[] = []

    beforeAll(async () => {
      servers = await startRedisCluster()
      admins = await Promise.all([...servers.masters, ...servers.replicas].map(({ url }) => connect(url)))
      for (const admin of admins) await admin.sendCommand(rightsOf('app', ...single, ...clustered))
    })
    afterAll(async () => {
      for (const admin of admins) admin.destroy()
      await servers.stop()
    })

    const view = async () => {
      const defaults = { username: 'app', password: 'password' }
      const cluster = createCluster({ rootNodes: [...servers.rootNodes], defaults, useReplicas: true })
      cluster.on('error', () => undefined)
      return await cluster.connect()
    }
    describeStoreContract('a cluster', async () => openStores(view), { describe, test })

    test('is never refused anything', async () => {
      for (const admin of admins) expect(await admin.sendCommand(['ACL', 'LOG'])).toEqual([])
    })
  })
})

describe('a store whose Redis user has no right', () => {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  async function as(
    ...rules: readonly string[]
  ): Promise<{ readonly store: Store; readonly admin: Client; readonly namespace: string }> {
    const server = await startRedis({ own: true })
    const admin = await connect(server.url)
    await admin.sendCommand(rightsOf('app', ...rules))
    const client = await connect(server.url.replace('//', '//app:password@'))
    const namespace = `test:${randomUUID()}`
    const store = redisStore({ client, namespace })
    ends.push(
      () => server.stop(),
      () => admin.destroy(),
      () => client.destroy(),
      () => store.close(),
    )
    return { store, admin, namespace }
  }

  test('to the channel polls, and one warning says so', async () => {
    const { store, admin, namespace } = await as(...single.filter((rule) => !rule.startsWith('&')))
    const notices: Notice[] = []
    store.watch((notice) => void notices.push(notice))
    await put(store, 'k', 1)
    expect((await store.invalidate('k', 'delete', 0)).kind).toBe('done')
    await until(() => notices.length > 0)
    await until(async () => /cmdstat_subscribe:.*rejected_calls=[2-9]/.test(await admin.info('commandstats')))
    expect(notices).toEqual([{ kind: 'warning', message: expect.stringContaining(`&${namespace}:wake`) }])
  })

  const withoutCommand = (command: string): readonly string[] => single.filter((rule) => rule !== `+${command}`)

  async function warningsOf(command: string, use: (store: Store) => Promise<unknown>): Promise<readonly Notice[]> {
    const { store } = await as(...withoutCommand(command))
    const notices: Notice[] = []
    store.watch((notice) => void notices.push(notice))
    await until(() => notices.some(({ kind }) => kind === 'connected'))
    await use(store)
    await use(store)
    await until(() => notices.some(({ kind }) => kind === 'warning'))
    return notices.filter(({ kind }) => kind === 'warning')
  }

  test.each<readonly [string, (store: Store) => Promise<unknown>]>([
    ['mget', (store) => store.acquire('k', request)],
    ['publish', (store) => store.invalidate('k', 'delete', 0)],
    ['get', (store) => store.read('k', json)],
    ['getrange', (store) => store.acquire('k', request)],
    ['eval', (store) => store.invalidate('k', 'delete', 0)],
  ])('to the command %s says so once', async (command, use) => {
    const message = expect.stringContaining(`(+${command}`)
    expect(await warningsOf(command, use)).toEqual([{ kind: 'warning', message }])
  })

  test('to EVALSHA sends its scripts as a whole, and says so once', async () => {
    const message = expect.stringContaining('(+evalsha)')
    const putAndRead = async (store: Store): Promise<void> => {
      expect((await store.put('k', entryOf(1), json)).kind).toBe('stored')
      expect((await store.read('k', json)).kind).toBe('found')
    }
    expect(await warningsOf('evalsha', putAndRead)).toEqual([{ kind: 'warning', message }])
  })

  test('because EVALSHA has another name there sends its scripts as a whole, and says so once', async () => {
    const server = await startRedis({ own: true, args: ['--rename-command', 'EVALSHA', 'hidden'] })
    const client = await connect(server.url)
    const store = redisStore({ client, namespace: 'test' })
    ends.push(
      () => server.stop(),
      () => client.destroy(),
      () => store.close(),
    )
    const warnings: Notice[] = []
    store.watch((notice) => void (notice.kind === 'warning' && warnings.push(notice)))
    for (let count = 0; count < 2; count += 1)
      expect(await store.invalidate('k', 'delete', 0)).toEqual({ kind: 'done' })
    expect(warnings).toEqual([{ kind: 'warning', message: expect.stringContaining('(+evalsha)') }])
  })

  test.each([
    ['to no key of the store', '~other:*'],
    ['to write to the keys', '%R~*'],
  ])('%s is away, with the error of Redis, and one warning names the pattern', async (_rights, granted) => {
    const { store, namespace } = await as('on', '>password', granted, '&*', '+@all')
    const warnings: Notice[] = []
    store.watch((notice) => void (notice.kind === 'warning' && warnings.push(notice)))
    expect(await store.acquire('k', request)).toMatchObject({ kind: 'away' })
    expect(await store.acquire('k', request)).toMatchObject({ kind: 'away' })
    expect(warnings).toEqual([{ kind: 'warning', message: expect.stringContaining(`the pattern ~${namespace}:*`) }])
  })

  test('to the keys is away, with the error of Redis', async () => {
    const { store } = await as('on', '>password', '~other:*', '&*', '+@all')
    expect(await store.read('k', json)).toMatchObject({
      kind: 'away',
      cause: { message: expect.stringContaining('NOPERM') },
    })
    expect(await store.acquire('k', request)).toMatchObject({ kind: 'away' })
  })
})
