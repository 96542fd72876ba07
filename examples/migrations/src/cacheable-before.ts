import { createKeyv } from '@keyv/redis'
import { Cacheable } from 'cacheable'
import { findProduct, setPrice } from './database.ts'

const cache = new Cacheable({ secondary: createKeyv(process.env['REDIS_URL'] ?? '') })

export function readProduct(id: string) {
  return cache.getOrSet(`product:${id}`, () => findProduct(id), { ttl: '30s' })
}

export async function changePrice(id: string, price: number) {
  await setPrice(id, price)
  await cache.delete(`product:${id}`)
}
