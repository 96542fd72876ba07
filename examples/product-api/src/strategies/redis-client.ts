import { createClient, type RedisClientType } from 'redis'

/** A connected client with the defaults of node-redis: while Redis is away its commands wait. */
export async function connectRedis(url: string): Promise<RedisClientType> {
  const client: RedisClientType = createClient({ url })
  // Each failed attempt to reconnect is an error; the page shows that Redis is away.
  client.on('error', () => undefined)
  await client.connect()
  return client
}
