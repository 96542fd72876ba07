import { describe, expect, it } from '@jest/globals'
import type { Acquire } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, rejection, settle, trace } from './fleet.ts'

/** Lets the next answer of the store's step wait until the test says so. */
function holdBack<K extends 'read' | 'acquire'>(fleet: Fleet, step: K): { letGo(): void } {
  const real = fleet.store[step].bind(fleet.store) as (...args: unknown[]) => Promise<unknown>
  let letGo = (): void => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  const held = async (...args: unknown[]): Promise<unknown> => {
    Object.assign(fleet.store, { [step]: real })
    await gate
    return await real(...args)
  }
  Object.assign(fleet.store, { [step]: held })
  return { letGo: () => letGo() }
}

describe('close', () => {
  it('begins no load for a call that was still reading', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const read = holdBack(fleet, 'read')
    const origin = new Origin()
    const call = rejection(cache.getOrSet('k', origin.loader))
    await settle(fleet)
    await cache.close({ drain: 0 })
    read.letGo()
    expect(await call).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    expect(origin.count).toBe(0)
  })

  it('begins no refresh behind a stale value that was still being read', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    const read = holdBack(fleet, 'read')
    const origin = new Origin()
    const call = cache.lookup('k', origin.loader)
    await settle(fleet)
    await cache.close({ drain: 0 })
    read.letGo()
    expect(await call).toMatchObject({ value: 'stale', refresh: undefined })
    expect(origin.count).toBe(0)
  })

  it.each<Acquire>([
    { kind: 'held-off', remaining: 1000 },
    { kind: 'uncacheable', remaining: 1000, share: true },
    { kind: 'away', why: 'error', cause: new Error('reset') },
  ])('begins no load when the store answers $kind only then', async (answer) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.acquire = () => Promise.resolve(answer)
    const acquire = holdBack(fleet, 'acquire')
    const origin = new Origin()
    const call = rejection(cache.getOrSet('k', origin.loader))
    await settle(fleet)
    const closed = cache.close({ drain: 0 })
    await fleet.runtime.advance(1)
    acquire.letGo()
    expect(await call).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await closed
    expect(origin.count).toBe(0)
  })
})

describe('a call that left before the store answered', () => {
  it('has no load begun for it, whatever the answer', async () => {
    const fleet = createFleet()
    fleet.store.acquire = () => Promise.resolve({ kind: 'held-off', remaining: 1000 })
    const acquire = holdBack(fleet, 'acquire')
    const origin = new Origin()
    const leaving = new AbortController()
    const call = rejection(fleet.caches[0].getOrSet('k', origin.loader, { signal: leaving.signal }))
    await settle(fleet)
    leaving.abort(new Error('gone'))
    expect(await call).toMatchObject({ message: 'gone' })
    acquire.letGo()
    await settle(fleet)
    expect(origin.count).toBe(0)
  })
})

describe('what a loader left running', () => {
  it('is inside of no load any more, and may ask for the same key', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let later: Promise<string> | undefined
    // Another load keeps the storage on that knows what runs inside of what.
    void cache.getOrSet('other', new Origin().loader)
    await cache.getOrSet('k', (load) => {
      const pause = new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 100))
      later = pause.then(() => cache.getOrSet('k', () => 'second'))
      load.keep({ ttl: '50ms' })
      return 'first'
    })
    await fleet.runtime.advance(100)
    expect(await later).toBe('second')
  })

  it('is inside of no batch any more either', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    let later: Promise<string> | undefined
    void cache.getOrSet('other', new Origin().loader)
    await cache.getOrSetMany(['a', 'b'], (keys, load) => {
      const pause = new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 100))
      later = pause.then(() => cache.getOrSet('a', () => 'second'))
      load.keep('a', { ttl: '50ms' })
      return new Map(keys.map((key) => [key, key]))
    })
    await fleet.runtime.advance(100)
    expect(await later).toBe('second')
  })
})

describe('a caller that stops its own loader by its signal', () => {
  it('is no reason for those who joined it to fail, nor for a cooldown', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const events = trace(cache, 'load-failed')
    const stopping = new AbortController()
    const stopped = new Promise<never>((_, reject) =>
      stopping.signal.addEventListener('abort', () => reject(stopping.signal.reason)),
    )
    const owner = rejection(cache.getOrSet('k', () => stopped, { signal: stopping.signal }))
    await settle(fleet)
    const joined = cache.getOrSet('k', () => 'mine')
    await settle(fleet)
    stopping.abort(new Error('not wanted any more'))
    expect(await owner).toMatchObject({ message: 'not wanted any more' })
    await settle(fleet)
    expect(await joined).toBe('mine')
    expect(events).toEqual([])
  })
})

describe('a lease that its holder ended by its own word', () => {
  it('is not reported as lost while the loader goes on', async () => {
    const fleet = createFleet({ lease: { duration: '3s' } })
    const [cache] = fleet.caches
    const events = trace(cache, 'lease-lost', 'renew')
    const origin = new Origin()
    const call = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    origin.last.load.uncacheable({ share: false })
    await fleet.runtime.advance(10_000)
    expect(events).toEqual([])
    origin.last.resolve('mine')
    expect(await call).toBe('mine')
  })
})
