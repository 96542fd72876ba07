import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { findProduct, setPrice } from './database.ts'

const store = redisStore({ url: process.env['REDIS_URL'] ?? '', namespace: 'shop' })
const cache = createCache({ store, near: { maxEntries: 10_000 } })

export function readProduct(id: string) {
  return cache.getOrSet(`product:${id}`, () => findProduct(id), { ttl: '30s', tags: [`product:${id}`] })
}

export async function changePrice(id: string, price: number) {
  await setPrice(id, price)
  await cache.invalidateTags([`product:${id}`])
}
