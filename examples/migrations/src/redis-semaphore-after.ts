import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { findProduct, setPrice } from './database.ts'

const cache = createCache({ store: redisStore({ url: process.env['REDIS_URL'] ?? '', namespace: 'shop' }) })

export function readProduct(id: string) {
  return cache.getOrSet(`product:${id}`, () => findProduct(id), { ttl: '30s' })
}

export async function changePrice(id: string, price: number) {
  await setPrice(id, price)
  await cache.delete(`product:${id}`)
}
