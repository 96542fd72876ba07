import type { Runtime } from '@cattlegrid/core'
import { ClientLink } from '../link/client-link.ts'
import type { ClientPackage } from '../link/installed-package.ts'
import { linkTo, type OpenLink } from '../link/link-to.ts'
import { OwnClient } from '../link/own-client.ts'

/**
 * Connects to the server at a URL, or to the whole cluster that it belongs to. Rejects with the error of the first
 * connection that fails. Later, it reconnects.
 */
export async function openServer(
  installed: ClientPackage,
  url: string,
  connectTimeout: number,
  runtime: Runtime,
): Promise<OpenLink> {
  const client = await openClient(installed, url, connectTimeout, runtime)
  if (!(await isInCluster(client))) return { link: new ClientLink(client), close: () => client.close() }
  void client.close()
  return await openCluster(installed, url, runtime)
}

function openClient(
  installed: ClientPackage,
  url: string,
  connectTimeout: number,
  runtime: Runtime,
): Promise<OwnClient> {
  return new Promise((resolve, reject) => {
    const make = () => installed.client(url, runtime, connectTimeout)
    const fail = (error: unknown): boolean => {
      void client.close()
      reject(error instanceof Error ? error : new Error(String(error)))
      return true
    }
    const client = new OwnClient({ runtime, maxSilence: false, make, onUnreachable: fail })
    client.onceReady(() => resolve(client))
    client.open()
  })
}

async function openCluster(installed: ClientPackage, url: string, runtime: Runtime): Promise<OpenLink> {
  const cluster = installed.cluster(url)
  await cluster.connect()
  const { link, close } = linkTo(cluster.client, runtime, false, () => undefined)
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
