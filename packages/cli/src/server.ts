import type { Runtime } from '@cattlegrid/core/extend'
import { ClientLink, linkTo, makeNodeRedis, type OpenLink, OwnClient } from '@cattlegrid/redis/internal'
import { createClient, createCluster } from 'redis'

/**
 * Connects to the server at a URL, or to the whole cluster that it belongs to. Rejects with the error of the first
 * connection that fails. Later, it reconnects.
 */
export async function openServer(url: string, connectTimeout: number, runtime: Runtime): Promise<OpenLink> {
  const client = await openClient(url, connectTimeout, runtime)
  if (!(await isInCluster(client))) return { link: new ClientLink(client), close: () => client.close() }
  void client.close()
  return await openCluster(url, runtime)
}

function openClient(url: string, connectTimeout: number, runtime: Runtime): Promise<OwnClient> {
  return new Promise((resolve, reject) => {
    const make = () => makeNodeRedis((options) => createClient(options), url, runtime, connectTimeout)
    const fail = (error: unknown): boolean => {
      void client.close()
      reject(error instanceof Error ? error : new Error(String(error)))
      return true
    }
    const client = new OwnClient({ runtime, maxSilence: false, make, onUnreachable: fail })
    client.status.onceReady(() => resolve(client))
    client.open()
  })
}

async function openCluster(url: string, runtime: Runtime): Promise<OpenLink> {
  const cluster = createCluster({ rootNodes: [{ url }], defaults: accessOf(url) })
  cluster.on('error', () => undefined)
  await cluster.connect()
  const { link, close } = linkTo(cluster, runtime, false, () => undefined)
  await new Promise<void>((resolve) => void link.whenSubscribable(resolve))
  return {
    link,
    async close() {
      await close()
      cluster.destroy()
    },
  }
}

/** HELLO without arguments changes nothing, and needs no right that the clients do not need. A server that lacks it belongs to no cluster. */
async function isInCluster(client: OwnClient): Promise<boolean> {
  const reply = await client.send(['HELLO'], 'text').catch(() => [])
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
