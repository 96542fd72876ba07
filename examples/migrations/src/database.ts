// Stands for a slow database: a table in a Redis of its own, which counts the queries of all processes.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'

export interface Product {
  readonly id: string
  readonly price: number
}

const client = createClient({ url: process.env['DATABASE_URL'] ?? 'redis://127.0.0.1:6379' })
client.on('error', (error) => console.error(error))
await client.connect()

export async function findProduct(id: string): Promise<Product> {
  await client.incr('queries')
  await sleep(Number(await client.get('delay')))
  if ((await client.get('down')) !== null) throw new Error('The database is down.')
  return { id, price: Number(await client.hGet('prices', id)) }
}

export async function setPrice(id: string, price: number): Promise<void> {
  await client.hSet('prices', id, price)
}
