import { createClient } from 'redis'

/** A client as its defaults make it. */
export async function connected(url: string): Promise<ReturnType<typeof createClient>> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return client as ReturnType<typeof createClient>
}
