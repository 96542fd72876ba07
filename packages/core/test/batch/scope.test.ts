import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

describe('a batch whose stale keys are refreshed in the background', () => {
  it('may, in that loader call, ask for the key of the load around it', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('a', 'stale')
    await fleet.runtime.advance(10_001)
    const page = new Origin()
    const failures: unknown[] = []
    cache.on('load-failed', ({ error }) => failures.push(error))
    const outer = cache.getOrSet('page', async (load) => {
      await cache.getOrSetMany(['a'], async () => new Map([['a', `of ${await cache.getOrSet<string>('page', never)}`]]))
      return await page.loader(load)
    })
    await settle(fleet)
    page.last.resolve('page')
    expect(await outer).toBe('page')
    await settle(fleet)
    expect(failures).toEqual([])
    expect(await cache.get('a')).toBe('of page')
  })
})

describe('a loader of many keys that outlives its loads', () => {
  it('is outside of them from then on', async () => {
    const fleet = createFleet({ loadTimeout: '1s' })
    const [cache] = fleet.caches
    // Another load keeps the storage on that knows what runs inside of what.
    void cache.getOrSet('other', new Origin().loader, { loadTimeout: '1h' })
    let later: Promise<string> | undefined
    const call = rejection(
      cache.getOrSetMany(['a'], async () => {
        await new Promise<void>((resolve) => void fleet.runtime.schedule(resolve, 10_000))
        later = cache.getOrSet('a', () => 'asked for anew')
        return new Map<string, string>()
      }),
    )
    await fleet.runtime.advance(10_000)
    expect(await call).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    expect(await later).toBe('asked for anew')
  })
})

describe('a load that ends before the loader of its batch is called', () => {
  it('does not call it', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const { acquire } = fleet.store
    fleet.store.acquire = async (key, request) => {
      if (key === 'late') await new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 500))
      return acquire.call(fleet.store, key, request)
    }
    const call = rejection(cache.getOrSetMany(['early', 'late'], never))
    await fleet.runtime.advance(100)
    const closing = cache.close({ drain: 0 })
    await fleet.runtime.advance(1000)
    await closing
    expect(await call).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })
})
