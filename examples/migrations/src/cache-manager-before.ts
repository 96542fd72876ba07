import { createKeyv } from '@keyv/redis'
import { createCache } from 'cache-manager'
import { findProduct, type Product, setPrice } from './database.ts'

const cache = createCache({ stores: [createKeyv(process.env['REDIS_URL'] ?? '')] })

export function readProduct(id: string) {
  return cache.wrap(`product:${id}`, () => findProduct(id), 30_000, 5000)
}

export async function readProducts(ids: string[]) {
  const known = await cache.mget<Product>(ids.map((id) => `product:${id}`))
  const products = await Promise.all(ids.map(async (id, index) => known[index] ?? findProduct(id)))
  await cache.mset(products.map((product) => ({ key: `product:${product.id}`, value: product, ttl: 30_000 })))
  return products
}

export async function changePrice(id: string, price: number) {
  await setPrice(id, price)
  await cache.del(`product:${id}`)
}
