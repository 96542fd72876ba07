import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { Permits } from '../../src/flight/permits.ts'
import { createFleet, type Fleet, Origin, settle } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

const keysOf = ({ loads }: Origin): string[] => loads.map(({ load }) => load.key)

const rejectionOrValue = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

async function expired(fleet: Fleet, by: number): Promise<string> {
  await fleet.caches[0].set('k', 'stale')
  await fleet.runtime.advance(10_000 + by)
  const entry = fleet.store.peek('k', json, 0)
  return entry?.version ?? ''
}

describe('a load permit', () => {
  it('is released exactly once, however the load ends', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await cache.getOrSet('fails', () => Promise.reject(new Error('down'))).catch(() => 'failed')
    await cache.getOrSet('alone', (load) => load.uncacheable({ share: false }))
    const followed = await fleet.store.acquire('led', { duration: 100, seen: '', wake: false })
    expect(followed.kind).toBe('lead')
    const follower = cache.getOrSet('led', () => 'taken over')
    await fleet.runtime.advance(200)
    expect(await follower).toBe('taken over')
    const origin = new Origin()
    const calls = ['a', 'b', 'c'].map((key) => cache.getOrSet(key, origin.loader))
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['a'])
    for (let next = 0; next < 3; next += 1) {
      origin.loads[next]?.resolve(next)
      await settle(fleet)
    }
    expect(await Promise.all(calls)).toEqual([0, 1, 2])
  })

  it('is not granted while nested loads exceed maxLoads', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const origin = new Origin()
    const outer = cache.getOrSet('outer', async (load) => {
      await cache.getOrSet('inner', origin.loader)
      return origin.loader(load)
    })
    await settle(fleet)
    const waiting = cache.getOrSet('waiting', origin.loader)
    await settle(fleet)
    origin.last.resolve('inner')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['inner', 'outer'])
    origin.last.resolve('outer')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['inner', 'outer', 'waiting'])
    origin.last.resolve('waited')
    expect(await Promise.all([outer, waiting])).toEqual(['outer', 'waited'])
  })

  it('is not granted to a caller that has left the queue', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('running', origin.loader)
    await settle(fleet)
    const leaving = new AbortController()
    const left = cache.getOrSet('left', origin.loader, { signal: leaving.signal }).catch(() => 'left')
    await settle(fleet)
    leaving.abort()
    expect(await left).toBe('left')
    const asked: string[] = []
    const { acquire } = fleet.store
    fleet.store.acquire = (key, request) => {
      asked.push(key)
      return acquire.call(fleet.store, key, request)
    }
    const next = cache.getOrSet('next', origin.loader)
    origin.last.resolve('done')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['running', 'next'])
    expect(asked).toEqual(['next'])
    origin.last.resolve('also done')
    expect(await Promise.all([running, next])).toEqual(['done', 'also done'])
  })

  it('is released while its flight follows', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await fleet.store.acquire('led', { duration: 5000, seen: '', wake: false })
    const follower = cache.getOrSet('led', () => 'taken over')
    await settle(fleet)
    const other = cache.getOrSet('other', () => 'loaded meanwhile')
    await settle(fleet)
    expect(await Promise.race([other, Promise.resolve('waiting')])).toBe('loaded meanwhile')
    await fleet.runtime.advance(5010)
    expect(await follower).toBe('taken over')
  })

  it('is released when the loader ends, before the store has answered the commit or the release', async () => {
    const remote = new Remote()
    const cache = remote.join({ maxLoads: 1, outage: false })
    const origin = new Origin()
    Object.assign(remote.delays, { commit: 100, release: 100 })
    const calls = ['committed', 'failed', 'next'].map((key) => rejectionOrValue(cache.getOrSet(key, origin.loader)))
    await remote.runtime.advance(0)
    origin.last.resolve('value')
    await remote.runtime.advance(0)
    expect(keysOf(origin)).toEqual(['committed', 'failed'])
    origin.last.reject(new Error('down'))
    await remote.runtime.advance(0)
    expect(keysOf(origin)).toEqual(['committed', 'failed', 'next'])
    origin.last.resolve('value')
    await remote.runtime.advance(200)
    expect(await Promise.all(calls)).toMatchObject(['value', { message: 'down' }, 'value'])
  })

  it('is acquired anew by a follower before it leads', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    await fleet.store.acquire('led', { duration: 100, seen: '', wake: false })
    const origin = new Origin()
    const follower = cache.getOrSet('led', origin.loader)
    await settle(fleet)
    const other = cache.getOrSet('other', origin.loader)
    await fleet.runtime.advance(200)
    expect(keysOf(origin)).toEqual(['other'])
    origin.last.resolve('other')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['other', 'led'])
    origin.last.resolve('taken over')
    expect(await Promise.all([other, follower])).toEqual(['other', 'taken over'])
  })

  it('makes room for one load only when it is released twice', () => {
    const permits = new Permits(2)
    const [first, second] = [permits.tryAcquirePermit(), permits.tryAcquirePermit()]
    expect(second).toBeDefined()
    first?.()
    first?.()
    expect([permits.tryAcquirePermit(), permits.tryAcquirePermit()].map((permit) => permit !== undefined)).toEqual([
      true,
      false,
    ])
  })

  it('is needed by a background refresh that starts inside a load', async () => {
    const fleet = createFleet({ maxLoads: 1, staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await expired(fleet, 1)
    const { outcome, value } = await cache.lookup('outer', async () => {
      const { refresh } = await cache.lookup('k', () => 'new')
      return (await refresh)?.kind
    })
    expect({ outcome, value }).toEqual({ outcome: { kind: 'committed' }, value: 'abandoned' })
  })

  it('that had to be waited for is used only after the store was read again', async () => {
    const fleet = createFleet({ maxLoads: 1, staleIfError: '1h', tags: { maxAge: 0 } })
    const [cache] = fleet.caches
    await cache.set('k', 'void', { tags: ['t'], ttl: '1s' })
    await fleet.runtime.advance(2000)
    const origin = new Origin()
    const running = cache.getOrSet('running', origin.loader)
    const waiting = cache.getOrSet('k', origin.loader, { softTimeout: false })
    await settle(fleet)
    await cache.invalidateTags(['t'])
    origin.last.resolve('ran')
    await settle(fleet)
    expect(keysOf(origin)).toEqual(['running', 'k'])
    expect(origin.last.load.stale).toBeUndefined()
    origin.last.resolve('new')
    expect(await Promise.all([running, waiting])).toEqual(['ran', 'new'])
  })

  it('that had to be waited for leaves the store its whole time for the lease', async () => {
    const remote = new Remote()
    const cache = remote.join({ maxLoads: 1, outage: false })
    const origin = new Origin()
    const running = cache.getOrSet('running', origin.loader)
    await remote.runtime.advance(0)
    const waiting = cache.lookup('k', origin.loader)
    // The store answers other calls all the time.
    remote.delays.read = 50
    for (let beat = 0; beat < 20; beat += 1) {
      void cache.get('other')
      await remote.runtime.advance(100)
    }
    remote.delays.acquire = 100
    origin.last.resolve('ran')
    await remote.runtime.advance(500)
    origin.last.resolve('k')
    await remote.runtime.advance(500)
    expect((await waiting).outcome).toEqual({ kind: 'committed' })
    expect(await running).toBe('ran')
  })
})
