import { inspect } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { isCattlegridError, type InvalidOptionError } from '@cattlegrid/core'
import { systemRuntime } from '@cattlegrid/core/extend'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { Cluster, Redis } from 'ioredis6'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { optionsTable } from './options-table.ts'

/** The error of a call that must not go well. */
function refusal(options: unknown): InvalidOptionError {
  try {
    redisStore(options as RedisStoreOptions)
  } catch (error) {
    if (isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION')) return error
    throw error
  }
  throw new Error('accepted')
}

const client = createClient()
const refused = Object.entries(optionsTable['RedisStoreOptions'] ?? {}).flatMap(([name, values]) =>
  (values as readonly unknown[]).map((value) => [name, value] as const),
)

describe('the options of redisStore', () => {
  test.each(refused)('%s refuses %p and says what it takes', (name, value) => {
    const other = name === 'client' || name === 'url' ? {} : { client }
    const error = refusal({ ...other, [name]: value })
    expect(error.option).toBe(`redisStore.${name}`)
    expect(error.value).toBe(value === 'redis://:port' ? 'redis://***' : value)
    expect(error.message).toContain(`redisStore.${name}`)
    expect(error.accepted.length).toBeGreaterThan(5)
  })

  test.each([
    ['`#`', 'redis://:s3cr#tPW@host'],
    ['`#`, behind what looks like a host', 'redis://s3cr#tPW@host'],
    ['`/`, behind what looks like a port', 'redis://user:12/s3crtPW@host'],
    ['`?`', 'redis://user:12?s3crtPW@host'],
    ['`%`', 'redis://:s3cr%tPW@host'],
  ])('refuse a URL whose password has a bare %s, show nothing of it and name the cure', (_, url) => {
    const withPassword = new Redis({ lazyConnect: true, password: 's3cr#tPW' })
    for (const options of [
      { url },
      { url: [url] },
      { url: { href: url } },
      { client: url },
      { uri: url },
      url,
      { client: withPassword, url },
    ]) {
      const error = refusal(options)
      expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/s3cr|tPW/)
    }
    expect(refusal({ url }).message).toContain('percent-encoded')
  })

  test.each([
    { client: { url: 'redis://:s3cr#tPW@host', isOpen: false } },
    { client: { options: { password: 's3cr#tPW' } } },
    { client: createClientPool({ password: 's3cr#tPW' }) },
    { url: new URL('redis://user:s3cr@host') },
    { url: 'unix://:s3cr@/tmp/redis.sock' },
    { host: 'h', password: 's3cr#tPW' },
    { client: new Redis({ lazyConnect: true, password: 's3cr#tPW' }).pipeline() },
  ])('show no password of %p', (options) => {
    expect(inspect(refusal(options), { depth: 10, showHidden: true })).not.toMatch(/s3cr|tPW/)
  })

  test('refuse an unknown name, and suggest the closest one', () => {
    const error = refusal({ client, nameSpace: 'x' })
    expect(error.option).toBe('redisStore.nameSpace')
    expect(error.message).toContain("did you mean 'namespace'?")
  })

  test.each([
    ['a client of one server', { client }],
    ['a client of one server, of ioredis', { client: new Redis({ lazyConnect: true }) }],
    ['a URL', { url: 'redis://127.0.0.1:1' }],
  ])('refuse sharded notices with %s', (_, connection) => {
    const error = refusal({ ...connection, shardedNotices: true })
    expect(error).toMatchObject({ option: 'redisStore.shardedNotices', value: true })
    expect(error.message).toContain('a cluster')
  })

  test('take sharded notices with a cluster of either make', async () => {
    const clusters = [
      createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] }),
      new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true }),
    ]
    for (const one of clusters) {
      const store = redisStore({ client: one, shardedNotices: true })
      expect(store.partOf?.('entry', 'k').receivesNotices('k')).toBe(false)
      await store.close()
    }
  })

  test.each([undefined, null, 'redis://127.0.0.1', 5, []])('refuse %p in their place', (options) => {
    expect(refusal(options).option).toMatch(/^redisStore/)
  })

  test('require either client or url, and not both', () => {
    expect(refusal({}).message).toContain('either client or url')
    expect(refusal({ client, url: 'redis://127.0.0.1:1' }).message).toContain('either client or url')
  })

  test.each<[string, object, string]>([
    ['a pool, because it would break the order of commands', createClientPool(), 'order'],
    [
      'a client of valkey-glide, because it may or may not be connected',
      { customCommand: () => undefined, invokeScript: () => undefined, close: () => undefined },
      'valkey-glide does not report whether it is connected',
    ],
    ['a pipeline of ioredis', new Redis({ lazyConnect: true }).pipeline(), 'ioredis (5 or 6)'],
    [
      'a Sentinel client that keeps no connection, because it may hang',
      createSentinel({ name: 'x', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }),
      'reserveClient: true',
    ],
  ])('refuse %s', (_, unfit, reason) => {
    expect(refusal({ client: unfit }).message).toContain(reason)
  })

  test('take a client, a cluster, and a Sentinel client that keeps a connection, of either make', async () => {
    const sentinel = { name: 'x', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }], reserveClient: true }
    const clients = [
      client,
      createClient({ RESP: 2 }).withTypeMapping({}),
      createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }], useReplicas: true }),
      createSentinel(sentinel),
      createSentinel({ ...sentinel, masterPoolSize: 3, RESP: 2 }).withTypeMapping({}),
      new Redis({ lazyConnect: true }),
      new Redis({ lazyConnect: true, sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'x' }),
      new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true }),
    ]
    for (const one of clients) {
      const store = redisStore({ client: one })
      expect(store.shared).toBe(true)
      await store.close()
    }
  })

  test('treat undefined as absent', async () => {
    const options = { client, url: undefined, namespace: undefined, watchdog: undefined, runtime: undefined }
    await redisStore(options).close()
    await redisStore({ client, namespace: 'n'.repeat(128), runtime: systemRuntime }).close()
    expect(client.isOpen).toBe(false)
  })
})
