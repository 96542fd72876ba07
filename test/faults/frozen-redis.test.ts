import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, createCache, isCattlegridError } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { until } from '../fleet/fleet.ts'

describe('a Redis that is stopped and answers nothing', () => {
  let server: RedisServer
  let cache: Cache
  let end: () => Promise<void>

  beforeEach(async () => {
    server = await startRedis({ own: true })
    const client = createClient({ url: server.url })
    client.on('error', () => {})
    await client.connect()
    cache = createCache({ store: redisStore({ client, namespace: 'frozen' }), ttl: '1h', staleWhileRevalidate: '1h' })
    end = async () => {
      server.resume()
      await cache.close({ drain: 0 })
      client.destroy()
      await server.stop()
    }
  })
  afterEach(() => end())

  it('hangs nobody: each process loads once for all of its callers, and goes on with Redis when it is back', async () => {
    expect(await cache.getOrSet('warm', () => 'before')).toBe('before')
    server.pause()
    let loads = 0
    const ask = (key: string): Promise<string> => cache.getOrSet(key, () => `load ${(loads += 1)}`)
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask('cold')))
    expect(new Set(answers)).toEqual(new Set(['load 1']))
    expect(await ask('warm')).toBe('load 2')
    server.resume()
    await until(async () => (await cache.read('warm'))?.value === 'before')
    // A grant that came too late was given back: nobody waits for its lease to run out.
    const { outcome } = await cache.lookup('cold', () => 'stored', { lease: { duration: '1h' } })
    expect(outcome).toEqual({ kind: 'committed' })
  })

  it('makes an invalidation say that nobody knows whether it was executed', async () => {
    server.pause()
    const error = await cache.delete('k').catch((thrown: unknown) => thrown)
    expect(isCattlegridError(error, 'CATTLEGRID_STORE_AWAY')).toBe(true)
    expect(error).toMatchObject({ maybeApplied: true })
  })

  it('lets the cache be closed', async () => {
    server.pause()
    const running = cache.getOrSet('k', () => new Promise(() => {})).catch((thrown: unknown) => thrown)
    await cache.close({ drain: 0 })
    expect(await running).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })
})
