import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { findProduct, setPrice } from './database.ts'

const store = redisStore({ url: process.env['REDIS_URL'] ?? '', namespace: 'shop' })
const cache = createCache({ store, ttl: '30s', earlyRefresh: { before: '5s' } })

export function readProduct(id: string) {
  return cache.getOrSet(`product:${id}`, () => findProduct(id))
}

export async function readProducts(ids: string[]) {
  const keys = ids.map((id) => `product:${id}`)
  const products = await cache.getOrSetMany(keys, async (missing) => {
    const found = await Promise.all(missing.map((key) => findProduct(key.slice('product:'.length))))
    return new Map(found.map((product) => [`product:${product.id}`, product]))
  })
  return keys.map((key) => products.get(key))
}

export async function changePrice(id: string, price: number) {
  await setPrice(id, price)
  await cache.delete(`product:${id}`)
}
