import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'
import { redisBusDriver, redisDriver } from 'bentocache/drivers/redis'
import { Redis } from 'ioredis'
import { findProduct, setPrice } from './database.ts'

const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '')
const address = { host: hostname, port: Number(port) }
const products = bentostore()
  .useL1Layer(memoryDriver({ maxItems: 10_000 }))
  .useL2Layer(redisDriver({ connection: new Redis(address) }))
  .useBus(redisBusDriver({ connection: address }))
const cache = new BentoCache({ default: 'products', stores: { products } })

export function readProduct(id: string) {
  return cache.getOrSet({ key: `product:${id}`, factory: () => findProduct(id), ttl: '30s', tags: [`product:${id}`] })
}

export async function changePrice(id: string, price: number) {
  await setPrice(id, price)
  await cache.deleteByTag({ tags: [`product:${id}`] })
}
