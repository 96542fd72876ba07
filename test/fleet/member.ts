// One process of a fleet, as an application is one: its own connection to Redis, its own cache, its own HTTP server.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createCache, type CallOptions, type ClaimedLead, type Duration } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient, createCluster } from 'redis'
import { type Answer, lookupByClaim } from '../support/lookup-by-claim.ts'

/** By which verb a caller asks. */
export type Door = 'lookup' | 'claim'

/** What the test asks of a member. */
export type Command =
  | {
      readonly do: 'ask'
      readonly keys: readonly string[]
      /** For each key. */
      readonly callers: number
      /** Where the origin is asked. Default: the key, behind a slash. */
      readonly path?: string
      /** `door`, unless it is `lookup`. */
      readonly options: CallOptions<string> & { readonly door?: Door }
    }
  /** Claims a key, and never ends the lead; `lose`: and keeps no reference to it. */
  | { readonly do: 'forget' | 'lose'; readonly key: string; readonly hold: Duration }
  | { readonly do: 'get' | 'delete' | 'expire'; readonly key: string }
  | { readonly do: 'set'; readonly key: string; readonly value: string }
  | { readonly do: 'invalidateTags' | 'expireTags'; readonly tags: readonly string[] }
  /** `events`: what the cache has told since its process began, as `away acquire k` or `commit k`. */
  | { readonly do: 'clear' | 'events' | 'collect garbage' }
  | { readonly do: 'listen'; readonly framework: 'express' | 'fastify' }
  /** How many requests of clients have reached its HTTP server. */
  | { readonly do: 'requests' }

/** How one call of `ask` ended. */
export type Ended =
  | ({ readonly kind: 'value' } & Answer<string>)
  | { readonly kind: 'error'; readonly code: string | undefined; readonly message: string }

const origin = process.env['FLEET_ORIGIN'] ?? ''
const rootNodes = JSON.parse(process.env['FLEET_CLUSTER'] ?? '[]') as { url: string }[]
const client =
  rootNodes.length > 0 ? createCluster({ rootNodes }) : createClient({ url: process.env['FLEET_REDIS'] ?? '' })
client.on('error', () => {})
await client.connect()
const cache = createCache({
  storeTimeout: (process.env['FLEET_STORE_TIMEOUT'] ?? '') as Duration,
  store: redisStore({ client, namespace: process.env['FLEET_NAMESPACE'] ?? 'fleet' }),
  ttl: '1h',
  refreshBudget: JSON.parse(process.env['FLEET_BUDGET'] ?? 'null') ?? undefined,
})

const events: string[] = []
for (const name of ['commit', 'refused', 'renew', 'unreadable'] as const)
  cache.on(name, ({ key }) => void events.push(`${name} ${key}`))
cache.on('away', ({ key, step }) => void events.push(`away ${step} ${key}`))

async function load(path: string): Promise<string> {
  const response = await fetch(origin + path)
  const body = await response.text()
  if (!response.ok) throw Object.assign(new Error(body), { code: `HTTP_${response.status}` })
  return body
}

async function ask(key: string, { path = `/${key}`, options }: Command & { do: 'ask' }): Promise<Ended> {
  try {
    const { door, ...rest } = options
    const loader = (): Promise<string> => load(path)
    const answer = door === 'claim' ? lookupByClaim(cache, key, loader, rest) : cache.lookup(key, loader, rest)
    const { value, status, role, outcome } = await answer
    return { kind: 'value', value, status, role, outcome }
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    return { kind: 'error', code, message }
  }
}

const forgotten: ClaimedLead<string>[] = []

async function forget({ do: how, key, hold }: Command & { do: 'forget' | 'lose' }): Promise<string> {
  const claim = await cache.claim<string>(key, { hold, lease: { maxHold: hold } })
  if (claim.kind === 'lead' && how === 'forget') forgotten.push(claim)
  return claim.kind
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}

async function execute(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'ask':
      return await Promise.all(
        command.keys.flatMap((key) => Array.from({ length: command.callers }, () => ask(key, command))),
      )
    case 'forget':
    case 'lose':
      return await forget(command)
    case 'collect garbage':
      return collectGarbage()
    case 'listen':
      // Loaded only where it is wanted: most members serve nobody over HTTP.
      return await import('./servers.ts').then((servers) => servers[command.framework](cache, load))
    case 'requests':
      return await import('./servers.ts').then((servers) => servers.requestsSeen())
    case 'get':
    case 'delete':
    case 'expire':
      return await cache[command.do](command.key)
    case 'set':
      return await cache.set(command.key, command.value)
    case 'invalidateTags':
    case 'expireTags':
      return await cache[command.do](command.tags)
    case 'clear':
      return await cache.clear()
    case 'events':
      return events
  }
}

process.on('message', ({ id, command }: { id: number; command: Command }) => {
  execute(command).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String((error as { code?: string }).code ?? error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
