import { randomUUID } from 'node:crypto'
import type { Store } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import type { StoreUnderTest } from '@cattlegrid/testkit'
import { createClient } from 'redis'

export type Client = Awaited<ReturnType<typeof connect>>

/** A connected client, as a user makes one: with nothing but its address. */
export async function connect(url: string = redisUrl()) {
  const client = createClient({ url })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The server of this test run. */
function redisUrl(): string {
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
export async function openRedis(): Promise<RedisUnderTest> {
  const namespace = `test:${randomUUID()}`
  const client = await connect()
  const opened: (() => Promise<unknown>)[] = []
  return {
    client,
    namespace,
    async open() {
      const own = await connect()
      const store = redisStore({ client: own, namespace })
      opened.push(() => store.close().then(() => own.close()))
      return store
    },
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 20)),
    now: () => performance.now(),
    async stop() {
      await Promise.all(opened.map((close) => close()))
      for await (const keys of client.scanIterator({ MATCH: `${namespace}:*`, COUNT: 1000 }))
        if (keys.length > 0) await client.unlink(keys)
      await client.close()
    },
  }
}
