import type { IoRedis, IoRedisCluster } from '@cattlegrid/redis'

export function addressOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

/** A client of ioredis once it is ready, with the `close` that a view has. */
export async function closing<C extends IoRedis | IoRedisCluster>(
  client: C,
): Promise<C & { close(): Promise<unknown> }> {
  client.on('error', () => undefined)
  await new Promise<void>((resolve) => void client.on('ready', () => resolve()))
  return Object.assign(client, { close: () => client.quit() })
}
