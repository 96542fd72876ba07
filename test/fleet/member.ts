// One process of a fleet, as an application is one: its own connection to Redis, its own cache, its own HTTP server.
import { createCache, type CallOptions, type Duration, type Lookup } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'

/** What the test asks of a member. */
export type Command =
  | {
      readonly do: 'ask'
      readonly keys: readonly string[]
      /** For each key. */
      readonly callers: number
      /** Where the origin is asked. Default: the key, behind a slash. */
      readonly path?: string
      readonly options: CallOptions<string>
    }
  | { readonly do: 'get' | 'delete' | 'expire'; readonly key: string }
  | { readonly do: 'set'; readonly key: string; readonly value: string }
  | { readonly do: 'invalidateTags' | 'expireTags'; readonly tags: readonly string[] }
  /** `events`: what the cache has told since its process began, as `away acquire k` or `commit k`. */
  | { readonly do: 'clear' | 'events' }
  | { readonly do: 'listen'; readonly framework: 'express' | 'fastify' }
  /** How many requests of clients have reached its HTTP server. */
  | { readonly do: 'requests' }

/** How one call of `ask` ended. */
export type Ended =
  | ({ readonly kind: 'value' } & Pick<Lookup<string>, 'value' | 'status' | 'role' | 'outcome'>)
  | { readonly kind: 'error'; readonly code: string | undefined; readonly message: string }

const origin = process.env['FLEET_ORIGIN'] ?? ''
const client = createClient({ url: process.env['FLEET_REDIS'] ?? '' })
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
    const { value, status, role, outcome } = await cache.lookup(key, () => load(path), options)
    return { kind: 'value', value, status, role, outcome }
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    return { kind: 'error', code, message }
  }
}

async function execute(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'ask':
      return await Promise.all(
        command.keys.flatMap((key) => Array.from({ length: command.callers }, () => ask(key, command))),
      )
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
