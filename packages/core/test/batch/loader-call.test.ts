import { describe, expect, it } from '@jest/globals'
import { createFleet, type Fleet, record, rejection, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

const all = (keys: readonly string[]): Map<string, string> => new Map(keys.map((key) => [key, key]))

describe('the loader call of a batch', () => {
  it('has the whole loadTimeout, however long the reads of its keys take', async () => {
    const remote = new Remote()
    const cache = remote.join({ loadTimeout: '300ms', storeTimeout: '5s', outage: false })
    remote.perRead = 100
    const keys = ['a', 'b', 'c', 'd', 'e']
    const asked: (readonly string[])[] = []
    const batch = cache.getOrSetMany(keys, async (missing) => {
      asked.push(missing)
      await new Promise<void>((resolve) => void remote.runtime.schedule(resolve, 200))
      return all(missing)
    })
    await remote.runtime.advance(1000)
    expect(asked).toEqual([keys])
    expect(await batch).toEqual(all(keys))
  })

  it('ends at loadTimeout, which counts from its begin', async () => {
    const remote = new Remote()
    const cache = remote.join({ loadTimeout: '300ms', storeTimeout: '5s', outage: false })
    remote.perRead = 100
    const errors: unknown[] = []
    void cache
      .getOrSetMany(['a', 'b'], () => new Promise<never>(() => undefined))
      .catch((error: unknown) => errors.push(error))
    await remote.runtime.advance(499)
    expect(errors).toEqual([])
    await remote.runtime.advance(1)
    expect(errors).toMatchObject([{ code: 'CATTLEGRID_LOAD_TIMEOUT' }])
  })
})

describe('a batch whose caller leaves while a key still asks for its lease', () => {
  function withSlowKey(): Fleet {
    const fleet = createFleet({ maxLoads: 1 })
    const { acquire } = fleet.store
    fleet.store.acquire = async (key, request) => {
      if (key === 'slow') await new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 500))
      return acquire.call(fleet.store, key, request)
    }
    return fleet
  }

  it('does not call its loader, and gives the leases and the permit back', async () => {
    const fleet = withSlowKey()
    const [cache] = fleet.caches
    const outcomes = record(cache, 'outcome')
    const leaving = new AbortController()
    const batch = rejection(cache.getOrSetMany(['fast', 'slow'], never, { signal: leaving.signal }))
    await fleet.runtime.advance(100)
    leaving.abort(new Error('left'))
    expect(await batch).toMatchObject({ message: 'left' })
    await fleet.runtime.advance(500)
    const outcome = { kind: 'abandoned', why: 'no-waiters' }
    expect(outcomes).toEqual([['outcome', { key: 'fast', outcome, took: 0, leased: true }]])
    expect(await cache.inspect('fast')).toMatchObject({ lease: null, cooldown: null })
    expect(await cache.getOrSetMany(['fast'], all)).toEqual(all(['fast']))
  })

  it('calls its loader for the keys that others wait for', async () => {
    const fleet = withSlowKey()
    const [cache] = fleet.caches
    const leaving = new AbortController()
    const asked: (readonly string[])[] = []
    const loader = (keys: readonly string[]): Map<string, string> => {
      asked.push(keys)
      return all(keys)
    }
    const batch = rejection(cache.getOrSetMany(['fast', 'slow'], loader, { signal: leaving.signal }))
    await settle(fleet)
    const joined = cache.getOrSet('slow', never)
    await settle(fleet)
    leaving.abort(new Error('left'))
    await fleet.runtime.advance(500)
    expect(asked).toEqual([['slow']])
    expect(await joined).toBe('slow')
    expect(await batch).toMatchObject({ message: 'left' })
  })
})
