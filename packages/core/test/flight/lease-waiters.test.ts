import { describe, expect, it } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import type { Lease, Notice } from '@cattlegrid/core/extend'
import { createFleet, type Fleet, Origin, record, rejection, settle, trace } from '../support/fleet.ts'

/** Another process that holds the lease and never loads. */
async function hold(fleet: Fleet, duration: number): Promise<Lease> {
  const answer = await fleet.store.acquire('k', { duration, seen: '', wake: false })
  if (answer.kind !== 'lead') throw new Error(`The lease was not granted: ${answer.kind}`)
  return answer.lease
}

/** Counts the acquires. Throws after 100, since a loop without a pause would hang the test. */
function countAcquires(fleet: Fleet): { count: number } {
  const acquires = { count: 0 }
  const { acquire } = fleet.store
  fleet.store.acquire = (...args) => {
    acquires.count += 1
    if (acquires.count > 100) return Promise.reject(new Error('acquired without a pause'))
    return acquire.apply(fleet.store, args)
  }
  return acquires
}

/** One more process, and a way to send it a notice. */
function cacheWithNotices(fleet: Fleet): { readonly cache: Cache; notify: (notice: Notice) => void } {
  const { watch } = fleet.store
  const listeners: ((notice: Notice) => void)[] = []
  fleet.store.watch = (listener) => {
    listeners.push(listener)
    return watch(listener)
  }
  const cache = createCache({ store: fleet.store, runtime: fleet.runtime, ttl: '10s' })
  return { cache, notify: (notice) => listeners.forEach((listener) => listener(notice)) }
}

describe('a follower', () => {
  it('takes over as soon as the lease of a dead leader expires, before its next poll', async () => {
    const fleet = createFleet()
    await hold(fleet, 120)
    const origin = new Origin()
    const call = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(119)
    expect(origin.count).toBe(0)
    await fleet.runtime.advance(2)
    expect(origin.count).toBe(1)
    origin.last.resolve('taken over')
    expect(await call).toMatchObject({ value: 'taken over', role: 'leader' })
  })

  it('acquires a few milliseconds apart from its peers when a lease expires', async () => {
    const fleet = createFleet()
    fleet.runtime.setRandom([0.9])
    await hold(fleet, 120)
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await fleet.runtime.advance(128)
    expect(origin.count).toBe(0)
    await fleet.runtime.advance(2)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    await call
  })

  it('does not miss a notice that arrives before the answer to its acquire', async () => {
    const fleet = createFleet()
    const lease = await hold(fleet, 5000)
    const { acquire } = fleet.store
    fleet.store.acquire = async (...args) => {
      fleet.store.acquire = acquire
      const answer = await acquire.apply(fleet.store, args)
      await fleet.store.release(lease, { kind: 'handover' })
      return answer
    }
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    await call
  })

  it('acquires once per notice, and waits again when the lease is still held', async () => {
    const fleet = createFleet()
    const { cache, notify } = cacheWithNotices(fleet)
    const lease = await hold(fleet, 400)
    const acquires = countAcquires(fleet)
    const call = cache.getOrSet('k', () => 'mine')
    await settle(fleet)
    notify({ kind: 'released', key: 'k' })
    await settle(fleet)
    expect(acquires.count).toBe(2)
    await fleet.store.release(lease, { kind: 'handover' })
    expect(await call).toBe('mine')
  })

  it.each(['disconnected', 'connected'] as const)(
    'acquires again when its process is %s, since a notice may be lost',
    async (kind) => {
      const fleet = createFleet()
      const { cache, notify } = cacheWithNotices(fleet)
      await hold(fleet, 400)
      const acquires = countAcquires(fleet)
      const call = cache.getOrSet('k', () => 'mine')
      await settle(fleet)
      notify({ kind })
      await settle(fleet)
      expect(acquires.count).toBe(2)
      await fleet.runtime.advance(401)
      expect(await call).toBe('mine')
    },
  )

  it('ends when its last caller leaves, and leaves no timer behind', async () => {
    const fleet = createFleet()
    await hold(fleet, 5000)
    const leaving = new AbortController()
    const call = fleet.caches[0].getOrSet('k', () => 'never', { signal: leaving.signal }).catch(() => 'left')
    await settle(fleet)
    leaving.abort()
    expect(await call).toBe('left')
    await settle(fleet)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('releases the lease without a load when its callers left before the grant', async () => {
    const fleet = createFleet()
    const { acquire } = fleet.store
    let letGo = (): void => {}
    fleet.store.acquire = async (...args) => {
      fleet.store.acquire = acquire
      await new Promise<void>((resolve) => (letGo = resolve))
      return acquire.apply(fleet.store, args)
    }
    const leaving = new AbortController()
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader, { signal: leaving.signal }).catch(() => 'left')
    await settle(fleet)
    leaving.abort()
    expect(await call).toBe('left')
    letGo()
    await settle(fleet)
    expect(origin.count).toBe(0)
    expect(await fleet.caches[1].getOrSet('k', () => 'next')).toBe('next')
  })

  it('serves a value that became stale while it waited, within its window', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    const leader = fleet.caches[0].getOrSet('k', (load) => {
      load.keep({ ttl: '100ms', staleWhileRevalidate: '1m' })
      return origin.loader(load)
    })
    await settle(fleet)
    const follower = fleet.caches[1].lookup('k', origin.loader)
    await settle(fleet)
    fleet.muted = true
    origin.last.resolve('value')
    await leader
    await fleet.runtime.advance(501)
    expect(await follower).toMatchObject({ value: 'value', status: 'stale', role: 'follower' })
    expect(origin.count).toBe(1)
  })
})

describe('the end of a wait for a lease', () => {
  it('is reported with its key and its cause: a notice or the timer', async () => {
    const fleet = createFleet()
    const { cache, notify } = cacheWithNotices(fleet)
    const wakes = record(cache, 'wake')
    await hold(fleet, 5000)
    void cache.getOrSet('k', new Origin().loader)
    await settle(fleet)
    notify({ kind: 'released', key: 'k' })
    await settle(fleet)
    await fleet.runtime.advance(500)
    expect(wakes).toEqual([
      ['wake', { key: 'k', by: 'notice' }],
      ['wake', { key: 'k', by: 'timer' }],
    ])
  })

  it('is reported as caused by a notice that arrived before the wait', async () => {
    const fleet = createFleet()
    const { cache, notify } = cacheWithNotices(fleet)
    const wakes = record(cache, 'wake')
    await hold(fleet, 5000)
    const { acquire } = fleet.store
    fleet.store.acquire = async (...args) => {
      fleet.store.acquire = acquire
      const answer = await acquire.apply(fleet.store, args)
      notify({ kind: 'released', key: 'k' })
      return answer
    }
    void cache.getOrSet('k', new Origin().loader)
    await settle(fleet)
    expect(wakes).toEqual([['wake', { key: 'k', by: 'notice' }]])
  })
})

describe('two calls of one process that wait for one key, with its expiry between them', () => {
  /** A notice of an invalidation detaches the first flight, so the second call starts its own. */
  async function waitTwice(signal?: AbortSignal) {
    const fleet = createFleet()
    const { cache, notify } = cacheWithNotices(fleet)
    await hold(fleet, 5000)
    const first = cache.getOrSet('k', new Origin().loader, { signal }).catch(() => 'left')
    await settle(fleet)
    notify({ kind: 'expired', key: 'k' })
    await settle(fleet)
    const wakes = record(cache, 'wake')
    void cache.getOrSet('k', new Origin().loader)
    await settle(fleet)
    return { fleet, first, wakes, notify }
  }
  const wake = ['wake', { key: 'k', by: 'notice' }]

  it('wait in one flight, which a notice wakes', async () => {
    const { fleet, wakes, notify } = await waitTwice()
    notify({ kind: 'released', key: 'k' })
    await settle(fleet)
    expect(wakes).toEqual([wake])
  })

  it('are independent: the second is still woken after the first has left', async () => {
    const leaving = new AbortController()
    const { fleet, first, wakes, notify } = await waitTwice(leaving.signal)
    leaving.abort()
    expect(await first).toBe('left')
    await settle(fleet)
    notify({ kind: 'released', key: 'k' })
    await settle(fleet)
    expect(wakes).toEqual([wake])
  })
})

describe('a store that always answers "changed"', () => {
  it('holds no caller for longer than its waitTimeout', async () => {
    const fleet = createFleet({ waitTimeout: '1s' })
    fleet.store.acquire = () => Promise.resolve({ kind: 'changed' })
    const call = rejection(fleet.caches[0].getOrSet('k', () => 'never'))
    await fleet.runtime.advance(2000)
    expect(await call).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    await fleet.runtime.advance(2000)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('is asked a few times at once, then with pauses, and starts no load', async () => {
    const fleet = createFleet()
    const acquires = { count: 0 }
    fleet.store.acquire = () => {
      acquires.count += 1
      return acquires.count > 100 ? Promise.reject(new Error('no pause')) : Promise.resolve({ kind: 'changed' })
    }
    const leaving = new AbortController()
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader, { signal: leaving.signal }).catch(() => 'left')
    await settle(fleet)
    expect(acquires.count).toBeLessThan(10)
    await fleet.runtime.advance(500)
    expect(acquires.count).toBeLessThan(20)
    expect(origin.count).toBe(0)
    leaving.abort()
    expect(await call).toBe('left')
  })

  it('ends a background refresh without a load', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await fleet.caches[0].set('k', 'stale')
    await fleet.runtime.advance(10_001)
    const acquires = { count: 0 }
    fleet.store.acquire = () => {
      acquires.count += 1
      return acquires.count > 100 ? Promise.reject(new Error('no pause')) : Promise.resolve({ kind: 'changed' })
    }
    const { value, refresh } = await fleet.caches[0].lookup('k', () => 'new')
    expect(value).toBe('stale')
    await settle(fleet)
    expect(await refresh).toEqual({ kind: 'abandoned', why: 'changed' })
  })
})

describe('a background refresh', () => {
  it('continues when the entry is expired meanwhile, since it is still stale', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache, other] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    const { acquire } = fleet.store
    fleet.store.acquire = async (...args) => {
      fleet.store.acquire = acquire
      await other.expire('k')
      return acquire.apply(fleet.store, args)
    }
    const events = trace(cache, 'load')
    const { refresh } = await cache.lookup('k', () => 'new')
    expect(await refresh).toEqual({ kind: 'committed' })
    expect(events).toEqual(['load'])
  })
})
