// A process that starts under traffic: it asks for keys before its connection stands, and prints how its calls ended.
import { createCache, type Store } from '@cattlegrid/core'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { Cluster, Redis } from 'ioredis6'
import { createClient, createCluster, createSentinel } from 'redis'

/** How a process connects. None of them waits for its client, but `ioredis, ready`, whose store makes connections of its own. */
export type Way = keyof typeof clients

/** What the test tells a process. */
export interface Task {
  readonly way: Way
  readonly url: string
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  readonly namespace: string
  readonly origin: string
  readonly keys: readonly string[]
}

const task = JSON.parse(process.argv[2] ?? '{}') as Task
const { hostname: host, port } = new URL(task.url)
const address = { host, port: Number(port) }

type Given = NonNullable<RedisStoreOptions['client']>

const clients = {
  url: () => undefined,
  'node-redis': () => begun(createClient({ url: task.url })),
  'node-redis, cluster': () => begun(createCluster({ rootNodes: [{ url: task.url }] })),
  'node-redis, Sentinel': () =>
    begun(createSentinel({ name: 'cattlegrid', sentinelRootNodes: [...task.sentinels], reserveClient: true })),
  ioredis: () => quiet(new Redis(address)),
  'ioredis, ready': async () => {
    const client = quiet(new Redis(address))
    await new Promise((resolve) => void client.once('ready', resolve))
    return client
  },
  'ioredis, cluster': () => quiet(new Cluster([address])),
  'ioredis, Sentinel': () => quiet(new Redis({ name: 'cattlegrid', sentinels: [...task.sentinels] })),
} as const satisfies Record<string, () => Given | undefined | Promise<Given>>

function quiet<C extends Given>(client: C): C {
  client.on('error', () => undefined)
  return client
}

function begun<C extends Given & { connect(): Promise<unknown> }>(client: C): C {
  quiet(client)
    .connect()
    .catch(() => undefined)
  return client
}

function storeOn(client: Given | undefined): Store {
  return redisStore({ namespace: task.namespace, ...(client === undefined ? { url: task.url } : { client }) })
}

const cache = createCache({
  store: storeOn(await clients[task.way]()),
  ttl: '1h',
  storeTimeout: '20s',
  waitTimeout: '40s',
})

async function load(key: string): Promise<string> {
  const response = await fetch(`${task.origin}/${key}`)
  return await response.text()
}

const [deleted, ...lookups] = await Promise.all([
  cache.delete('another').then(
    () => 'done',
    (error: unknown) => String(error),
  ),
  ...task.keys.flatMap((key) =>
    Array.from({ length: 5 }, async () => {
      const { status, outcome } = await cache.lookup(key, () => load(key))
      return status === 'loaded' ? `loaded ${outcome?.kind ?? ''}` : status
    }),
  ),
])
process.stdout.write(JSON.stringify({ deleted, ended: [...new Set(lookups)] }))
process.exit()
