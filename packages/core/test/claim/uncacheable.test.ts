import { describe, expect, it } from '@jest/globals'
import type { CacheOptions, Load, Outcome } from '@cattlegrid/core'
import { countRequests, createFleet, Origin, rejection, settle, trace } from '../support/fleet.ts'

describe('an uncacheable result', () => {
  it('is shared with the callers that joined, and not stored', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    let loads = 0
    const loader = (load: Load) => {
      load.uncacheable()
      return ++loads
    }
    const answers = await Promise.all([cache.lookup('k', loader), cache.lookup('k', loader)])
    expect(answers.map(({ value }) => value)).toEqual([1, 1])
    expect(answers[0]?.outcome).toEqual({ kind: 'uncacheable', for: 10_000, share: true })
    expect(await other.get('k')).toBeUndefined()
  })

  it('that is unshareable reaches only the caller whose loader ran, in all processes', async () => {
    const fleet = createFleet()
    const users = fleet.caches.flatMap((cache, process) => [0, 1].map((n) => ({ cache, user: `user ${process}.${n}` })))
    const calls = users.map(({ cache, user }) =>
      cache.getOrSet('k', async (load) => {
        await Promise.resolve()
        load.uncacheable({ share: false })
        return user
      }),
    )
    await settle(fleet)
    expect(await Promise.all(calls)).toEqual(users.map(({ user }) => user))
  })

  it('that is unshareable releases all other callers as soon as the loader decides so', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const slow = cache.getOrSet('k', (load) => {
      load.uncacheable({ share: false })
      return new Promise<string>(() => {})
    })
    const joined = cache.getOrSet('k', () => 'mine')
    const elsewhere = other.getOrSet('k', () => 'theirs')
    await settle(fleet)
    expect(await joined).toBe('mine')
    expect(await elsewhere).toBe('theirs')
    void slow
  })

  it('cannot become shareable by a later call, nor its mark last longer', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const loader = (user: string) => (load: Load) => {
      load.uncacheable({ share: false, for: '1s' })
      load.uncacheable({ share: true, for: '5s' })
      return user
    }
    const calls = [cache.lookup('k', loader('ann')), cache.lookup('k', loader('bob'))]
    expect(await Promise.all(calls)).toMatchObject([
      { value: 'ann', outcome: { kind: 'uncacheable', for: 1000, share: false } },
      { value: 'bob' },
    ])
    await fleet.runtime.advance(1001)
    expect((await other.lookup('k', () => 'kept')).outcome).toEqual({ kind: 'committed' })
  })

  it('is remembered by the whole fleet for its time: no caller queues, and then one leads again', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ for: '2s' }))
    const events = trace(other, 'lead', 'follow')
    const loads = [other.getOrSet('k', () => 'a'), cache.getOrSet('k', () => 'b')]
    expect(await Promise.all(loads)).toEqual(['a', 'b'])
    expect(events).toEqual([])
    await fleet.runtime.advance(2001)
    await other.getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
    expect(await cache.get('k')).toBe('kept')
  })

  it('reports the reason that the loader gave', async () => {
    const fleet = createFleet()
    const loader = (load: Load) => load.uncacheable({ for: '2s', why: 'set-cookie' })
    const { outcome } = await fleet.caches[0].lookup('k', loader)
    expect(outcome).toEqual({ kind: 'uncacheable', for: 2000, share: true, why: 'set-cookie' })
  })

  it('removes the old value, so that it is not served any more', async () => {
    const fleet = createFleet({ staleIfError: '1h' })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    await fleet.runtime.advance(10_001)
    await cache.getOrSet('k', (load) => load.uncacheable())
    expect(await cache.get('k', { stale: true })).toBeUndefined()
  })
})

describe('a load that its loader calls unshareable when loadTimeout aborts it', () => {
  const endsAtTimeout = (load: Load): Promise<never> => {
    load.signal.addEventListener('abort', () => load.uncacheable({ share: false, why: 'timeout' }))
    return new Promise(() => {})
  }

  it('lets all other callers load for themselves', async () => {
    const fleet = createFleet({ loadTimeout: '2s' })
    const [cache, other] = fleet.caches
    const failed = rejection(cache.getOrSet('k', endsAtTimeout))
    const joined = cache.getOrSet('k', () => 'mine')
    const elsewhere = other.getOrSet('k', () => 'theirs')
    await fleet.runtime.advance(2000)
    expect(await failed).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    expect([await joined, await elsewhere]).toEqual(['mine', 'theirs'])
  })

  it('starts no cooldown, and ends as uncacheable', async () => {
    const fleet = createFleet({ loadTimeout: '2s' })
    const [cache] = fleet.caches
    const events = trace(cache, 'load-failed')
    const outcomes: Outcome[] = []
    cache.on('outcome', ({ outcome }) => outcomes.push(outcome))
    const failed = rejection(cache.getOrSet('k', endsAtTimeout))
    await fleet.runtime.advance(2000)
    await failed
    expect(events).toEqual([])
    expect(outcomes).toEqual([{ kind: 'uncacheable', for: 10_000, share: false, why: 'timeout' }])
  })
})

describe('a load that its loader calls uncacheable before it fails', () => {
  it('marks the key at loadTimeout, too, and starts no cooldown', async () => {
    const fleet = createFleet({ loadTimeout: '2s' })
    const [cache, other] = fleet.caches
    const events = trace(cache, 'load-failed')
    const outcomes: Outcome[] = []
    cache.on('outcome', ({ outcome }) => outcomes.push(outcome))
    const failed = rejection(
      cache.getOrSet('k', (load) => {
        load.signal.addEventListener('abort', () => load.uncacheable({ why: 'slow' }))
        return new Promise(() => {})
      }),
    )
    await fleet.runtime.advance(2000)
    expect(await failed).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
    expect(await other.lookup('k', () => 'next')).toMatchObject({
      value: 'next',
      outcome: { kind: 'abandoned', why: 'unleased' },
    })
    expect(events).toEqual([])
    expect(outcomes).toEqual([{ kind: 'uncacheable', for: 10_000, share: true, why: 'slow' }])
  })
})

describe('a call whose leader calls the result unshareable', () => {
  const stale = async (options: CacheOptions = {}) => {
    const fleet = createFleet({ staleIfError: '1h', ...options })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    await fleet.runtime.advance(10_001)
    const origin = new Origin()
    const lead = (): Promise<string> => cache.getOrSet('k', origin.loader, { staleIfError: false })
    return { fleet, cache, origin, lead }
  }

  it('is served the stale value when its own load fails', async () => {
    const { fleet, cache, origin, lead } = await stale()
    const leader = lead()
    await settle(fleet)
    const joined = cache.getOrSet('k', () => Promise.reject(new Error('down')))
    await settle(fleet)
    origin.last.load.uncacheable({ share: false })
    expect(await joined).toBe('old')
    origin.last.resolve('mine')
    expect(await leader).toBe('mine')
  })

  it('is served the stale value at softTimeout when its own load is slow', async () => {
    const { fleet, cache, origin, lead } = await stale({ softTimeout: '300ms' })
    const leader = lead()
    await settle(fleet)
    const own = new Origin()
    const joined = cache.lookup('k', own.loader)
    await settle(fleet)
    origin.last.load.uncacheable({ share: false })
    await fleet.runtime.advance(300)
    expect(await joined).toMatchObject({ value: 'old', status: 'stale' })
    own.last.resolve('late')
    origin.last.resolve('mine')
    expect(await leader).toBe('mine')
  })
})

describe('a key that is known to be uncacheable but shareable', () => {
  it('is asked for at the store each time', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable())
    const requests = countRequests(fleet)
    for (const value of ['a', 'b']) expect(await cache.getOrSet('k', () => value)).toBe(value)
    expect(requests.count).toBe(4)
  })

  it('is loaded once for all callers of a process', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable())
    const origin = new Origin()
    const calls = [cache.getOrSet('k', origin.loader), cache.getOrSet('k', origin.loader)]
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('shared')
    expect(await Promise.all(calls)).toEqual(['shared', 'shared'])
  })
})
