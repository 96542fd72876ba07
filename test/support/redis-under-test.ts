import { randomUUID } from 'node:crypto'
import type { Store } from '@cattlegrid/core'
import { type RedisClient, redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import type { StoreUnderTest } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { until } from './until.ts'

export type Client = Awaited<ReturnType<typeof connect>>

/** A connected client, as a user makes one: with nothing but its address. */
export async function connect(url: string = redisUrl()) {
  const client = createClient({ url })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The server of this test run. */
export function redisUrl(): string {
  const url = process.env['CATTLEGRID_TEST_REDIS_URL']
  if (url === undefined) throw new Error('CATTLEGRID_TEST_REDIS_URL is not set: run the tests through jest')
  return url
}

export interface RedisUnderTest extends StoreUnderTest {
  readonly client: Client
  readonly namespace: string
  open(): Promise<Store>
}

/** A namespace of its own on the test run's server; each view has a client of its own, as each process has. */
export async function openRedis(view: () => Promise<View> = () => connect()): Promise<RedisUnderTest> {
  const client = await connect()
  const stores = openStores(view)
  return {
    ...stores,
    client,
    async stop() {
      await stores.stop()
      for await (const keys of client.scanIterator({ MATCH: `${stores.namespace}:*`, COUNT: 1000 }))
        if (keys.length > 0) await client.unlink(keys)
      await client.close()
    },
  }
}

/** The same with clients of another make. */
export function openRedisBy(make: () => RedisClient): () => Promise<RedisUnderTest> {
  return () =>
    openRedis(async () => {
      const client = make()
      client.on('error', () => undefined)
      await client.connect()
      return client
    })
}

/** What a view goes through, and what ends it. */
export type View = NonNullable<RedisStoreOptions['client']> & { close(): Promise<unknown> }

/** A namespace of its own, in which each view has a client of its own; what it writes is left where it is. */
export function openStores(
  view: () => Promise<View>,
  options: Pick<RedisStoreOptions, 'shardedNotices'> = {},
): StoreUnderTest & { readonly namespace: string } {
  const namespace = `test:${randomUUID()}`
  const opened: (() => Promise<unknown>)[] = []
  return {
    namespace,
    async open() {
      const client = await view()
      const store = redisStore({ client, namespace, ...options })
      opened.push(() => store.close().then(() => client.close()))
      // Where the store makes its own connections.
      await until(async () => (await store.ping()).kind === 'done')
      return store
    },
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 20)),
    now: () => performance.now(),
    async stop() {
      await Promise.all(opened.map((close) => close()))
    },
  }
}
