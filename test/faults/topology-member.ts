// One process of an application over a cluster or a master that Sentinel names: callers that never rest, and a count of what they got.
import { type CallOptions, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createCluster, createSentinel } from 'redis'
import { lookupByClaim } from '../support/lookup-by-claim.ts'

/** Where Redis is, and the options of the user's client. */
export type Topology =
  | {
      readonly kind: 'cluster'
      readonly rootNodes: { url: string }[]
      readonly topologyRefreshOnReconnectionAttemptStrategy?: number
    }
  | { readonly kind: 'sentinel'; readonly name: string; readonly sentinelRootNodes: { host: string; port: number }[] }

export type TopologyCommand =
  | { readonly do: 'traffic'; readonly callers: number; readonly keys: number }
  /** Ends the traffic; answers what it was. */
  | { readonly do: 'rest' }
  /** Answers how long it took until loads of all those keys, each time under new names, were stored; ms. */
  | { readonly do: 'recover'; readonly keys: number }
  | { readonly do: 'ask'; readonly keys: readonly string[]; readonly callers: number }
  | { readonly do: 'delete'; readonly keys: readonly string[] }

/** What the callers of a process got. */
export interface Traffic {
  readonly answers: number
  readonly errors: readonly string[]
  /** ms */
  readonly slowest: number
}

const PATIENCE = 60_000

async function connect(topology: Topology): Promise<Parameters<typeof redisStore>[0]['client']> {
  const client =
    topology.kind === 'cluster' ? createCluster(topology) : createSentinel({ ...topology, reserveClient: true })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

const store = redisStore({
  client: await connect(JSON.parse(process.env['TOPOLOGY'] ?? '') as Topology),
  namespace: 'topology',
})
const cache = createCache({ store, ttl: '1h', storeTimeout: '1s' })

async function load(key: string): Promise<string> {
  return await (await fetch(`${process.env['TOPOLOGY_ORIGIN']}/${key}`)).text()
}

/** Every second call claims. */
let calls = 0
async function get(key: string, options: CallOptions<string> = {}): Promise<string> {
  calls += 1
  if (calls % 2 === 0) return await cache.getOrSet(key, () => load(key), options)
  return (await lookupByClaim(cache, key, () => load(key), options)).value
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
let callers: Promise<void>[] = []
const traffic = { goesOn: true, answers: 0, errors: new Set<string>(), slowest: 0 }

async function call(keys: number): Promise<void> {
  while (traffic.goesOn) {
    const begun = performance.now()
    try {
      // Short-lived, so that there is always something to lead and somebody to wait.
      await get(`busy-${Math.floor(Math.random() * keys)}`, { ttl: '200ms' })
      traffic.answers += 1
    } catch (error) {
      traffic.errors.add(String(error))
    }
    traffic.slowest = Math.max(traffic.slowest, performance.now() - begun)
    await pause(5)
  }
}

async function recover(keys: number): Promise<number> {
  const begun = performance.now()
  for (let round = 0; performance.now() - begun < PATIENCE; round += 1) {
    const names = Array.from({ length: keys }, (_, index) => `recover-${process.pid}-${round}-${index}`)
    const lookups = await Promise.all(names.map((name) => cache.lookup(name, () => 1)))
    if (lookups.every(({ outcome }) => outcome?.kind === 'committed')) return performance.now() - begun
    await pause(50)
  }
  throw new Error(`Not all keys are stored again after ${PATIENCE} ms`)
}

async function execute(command: TopologyCommand): Promise<unknown> {
  switch (command.do) {
    case 'traffic':
      callers = Array.from({ length: command.callers }, () => call(command.keys))
      return undefined
    case 'rest':
      traffic.goesOn = false
      await Promise.all(callers)
      return { answers: traffic.answers, slowest: traffic.slowest, errors: [...traffic.errors] } satisfies Traffic
    case 'recover':
      return await recover(command.keys)
    case 'ask':
      return await Promise.all(command.keys.flatMap((key) => Array.from({ length: command.callers }, () => get(key))))
    case 'delete':
      return await Promise.all(command.keys.map((key) => cache.delete(key)))
  }
}

process.on('message', ({ id, command }: { id: number; command: TopologyCommand }) => {
  execute(command).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
