// One process of a fleet, as an application is one: its own connection to Redis, its own cache, its own HTTP server.
import { createCache, type CallOptions, type Lookup } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'

/** What the test asks of a member. */
export type Command =
  | {
      readonly do: 'ask'
      readonly key: string
      readonly callers: number
      readonly path: string
      readonly options: CallOptions<string>
    }
  | { readonly do: 'get' | 'delete' | 'expire'; readonly key: string }
  | { readonly do: 'listen'; readonly framework: 'express' | 'fastify' }

/** How one call of `ask` ended. */
export type Ended =
  | ({ readonly kind: 'value' } & Pick<Lookup<string>, 'value' | 'status' | 'role' | 'outcome'>)
  | { readonly kind: 'error'; readonly code: string | undefined; readonly message: string }

const origin = process.env['FLEET_ORIGIN'] ?? ''
const client = createClient({ url: process.env['FLEET_REDIS'] ?? '' })
client.on('error', () => {})
await client.connect()
// A Redis that gets no turn on a busy machine is slow, not away.
const cache = createCache({
  storeTimeout: '20s',
  store: redisStore({ client, namespace: process.env['FLEET_NAMESPACE'] ?? 'fleet' }),
  ttl: '1h',
})

async function load(path: string): Promise<string> {
  const response = await fetch(origin + path)
  const body = await response.text()
  if (!response.ok) throw Object.assign(new Error(body), { code: `HTTP_${response.status}` })
  return body
}

async function ask({ key, path, options }: Command & { do: 'ask' }): Promise<Ended> {
  try {
    const { value, status, role, outcome } = await cache.lookup(key, () => load(path), options)
    return { kind: 'value', value, status, role, outcome }
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    return { kind: 'error', code, message }
  }
}

function execute(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'ask':
      return Promise.all(Array.from({ length: command.callers }, () => ask(command)))
    case 'listen':
      // Loaded only where it is wanted: most members serve nobody over HTTP.
      return import('./servers.ts').then((servers) => servers[command.framework](cache, load))
    case 'get':
    case 'delete':
    case 'expire':
      return cache[command.do](command.key)
  }
}

process.on('message', ({ id, command }: { id: number; command: Command }) => {
  execute(command).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
