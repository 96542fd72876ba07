import type { AnyRedisClient } from '@cattlegrid/redis'
import { createClient, createCluster } from 'redis'

type Client = ReturnType<typeof createClient>

/** A connected client, of one server or of a cluster. */
export interface OpenClient {
  readonly client: AnyRedisClient
  readonly close: () => void
}

/**
 * Connects to the server at a URL, or to the whole cluster that it belongs to. Rejects with the error of the
 * first connection that fails. Later, it reconnects.
 */
export async function openServer(url: string, connectTimeout: number): Promise<OpenClient> {
  const client = await openClient(url, connectTimeout)
  if (!(await isInCluster(client))) return { client, close: () => void client.close() }
  void client.close()
  const cluster = createCluster({ rootNodes: [{ url }], defaults: accessOf(url) })
  cluster.on('error', () => undefined)
  await cluster.connect()
  return { client: cluster, close: () => cluster.destroy() }
}

/** A command that cannot be sent at once fails: a queued one would be executed at an unknown later time. */
function openClient(url: string, connectTimeout: number): Promise<Client> {
  const client: Client = createClient({ url, disableOfflineQueue: true, socket: { connectTimeout } })
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error instanceof Error ? error : new Error(String(error)))
      if (client.isOpen) client.destroy()
    }
    client.on('error', () => undefined)
    client.once('error', fail)
    client.once('ready', () => {
      client.off('error', fail)
      resolve(client)
    })
    client.connect().catch(fail)
  })
}

/**
 * HELLO without arguments changes nothing, and needs no right that the clients do not need. A server that
 * lacks it belongs to no cluster.
 */
async function isInCluster(client: Client): Promise<boolean> {
  const reply: unknown = await client.sendCommand(['HELLO']).catch(() => [])
  const facts: readonly unknown[] = Array.isArray(reply) ? reply : Object.entries(reply as object).flat()
  return facts[facts.indexOf('mode') + 1] === 'cluster'
}

/** What the nodes that the first one names need, too. */
function accessOf(url: string): NonNullable<Parameters<typeof createCluster>[0]['defaults']> {
  const { protocol, username, password } = new URL(url)
  return {
    ...(protocol === 'rediss:' ? { socket: { tls: true } } : {}),
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  }
}
