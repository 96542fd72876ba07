import { createKeyv } from '@keyv/redis'
import { createCache } from 'cache-manager'
import { Redis } from 'ioredis'
import { Mutex } from 'redis-semaphore'
import { findProduct, type Product, setPrice } from './database.ts'

const url = process.env['REDIS_URL'] ?? ''
const cache = createCache({ stores: [createKeyv(url)] })
const redis = new Redis(url)

export async function readProduct(id: string) {
  const key = `product:${id}`
  const known = await cache.get<Product>(key)
  if (known !== undefined) return known
  const mutex = new Mutex(redis, key)
  await mutex.acquire()
  try {
    // Somebody else may have loaded it, while this call waited for the lock.
    const loaded = await cache.get<Product>(key)
    if (loaded !== undefined) return loaded
    const product = await findProduct(id)
    await cache.set(key, product, 30_000)
    return product
  } finally {
    await mutex.release()
  }
}

export async function changePrice(id: string, price: number) {
  await setPrice(id, price)
  await cache.del(`product:${id}`)
}
