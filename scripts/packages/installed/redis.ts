import { strict as assert } from 'node:assert'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

/** Two caches on one Redis, as those of two processes: 20 calls of both load once. */
export async function check(): Promise<void> {
  const namespace = `installed-${process.pid}`
  const open = (): Cache =>
    createCache({
      ttl: '30s',
      storeTimeout: '5s',
      store: redisStore({ url: process.env['REDIS_URL'] ?? '', namespace }),
    })
  const caches = [open(), open()]
  try {
    await Promise.all(caches.map((cache) => cache.ready({ timeout: '20s' })))
    const otherFollows = new Promise((follows) => caches.map((cache) => cache.on('follow', follows)))
    let loads = 0
    const load = async (): Promise<number> => {
      loads += 1
      await otherFollows
      return loads
    }
    const calls = Array.from({ length: 20 }, (_, at) => caches[at % 2]?.getOrSet('product:7', load))
    assert.deepEqual(new Set(await Promise.all(calls)), new Set([1]), 'a herd in two processes loads once')
    for (const cache of caches) assert.equal(await cache.getOrSet('product:7', load), 1, 'a hit does not load')
    assert.equal(await caches[0]?.getOrSet('product:8', load), 2, 'a miss loads')
  } finally {
    await Promise.all(caches.map((cache) => cache.close()))
  }
}
