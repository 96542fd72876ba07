import { describe, expect, it } from '@jest/globals'
import type { Cache, CacheOptions, Duration } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, rejection, settle, trace } from './fleet.ts'

/** In which two processes have been told that the key is unshareable. */
async function unshareableFleet(time: Duration = '10s', options: CacheOptions = {}): Promise<Fleet> {
  const fleet = createFleet(options)
  for (const cache of fleet.caches.slice(0, 2))
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false, for: time }))
  return fleet
}

/** How often the store was read or asked for a lease. */
function countQuestions({ store }: Fleet): { count: number } {
  const questions = { count: 0 }
  const { read, acquire } = store
  store.read = (...args) => {
    questions.count += 1
    return read.apply(store, args)
  }
  store.acquire = (...args) => {
    questions.count += 1
    return acquire.apply(store, args)
  }
  return questions
}

describe('a key that is remembered as unshareable', () => {
  it('is not asked for again by a process that the store has told so', async () => {
    const fleet = await unshareableFleet()
    const questions = countQuestions(fleet)
    const events = trace(fleet.caches[1], 'load')
    for (const user of ['ann', 'bob', 'eve']) expect(await fleet.caches[1].getOrSet('k', () => user)).toBe(user)
    expect(questions.count).toBe(0)
    expect(events).toHaveLength(3)
  })

  it('is asked for again after a second at the latest, since another process’s word may have been lost', async () => {
    const fleet = await unshareableFleet()
    fleet.muted = true
    await fleet.caches[0].delete('k')
    const events = trace(fleet.caches[1], 'lead')
    await fleet.runtime.advance(999)
    await fleet.caches[1].getOrSet('k', () => 'alone')
    expect(events).toEqual([])
    await fleet.runtime.advance(1)
    await fleet.caches[1].getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it('is asked for again as soon as its mark is over', async () => {
    const fleet = await unshareableFleet('200ms')
    const events = trace(fleet.caches[1], 'lead')
    await fleet.runtime.advance(200)
    await fleet.caches[1].getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it.each([
    ['a delete', (cache) => cache.delete('k')],
    ['an expire', (cache) => cache.expire('k')],
    ['a clear', (cache) => cache.clear()],
    ['an invalidation of tags', (cache) => cache.invalidateTags(['t'])],
  ] satisfies [string, (cache: Cache) => Promise<unknown>][])('is asked for again after %s', async (_, end) => {
    for (const process of [0, 1] as const) {
      const fleet = await unshareableFleet()
      const questions = countQuestions(fleet)
      // A process knows its own word without hearing it.
      fleet.muted = process === 1
      await end(fleet.caches[process])
      await fleet.caches[1].getOrSet('k', () => 'kept')
      expect(questions.count).toBe(2)
    }
  })

  it('gives everybody what was set, by whichever process', async () => {
    const fleet = await unshareableFleet()
    await fleet.caches[0].set('k', 'set')
    expect(await fleet.caches[1].getOrSet('k', () => 'alone')).toBe('set')
  })

  it('is asked for again where the word that ends its mark overtakes the answer that told of it', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const { acquire } = fleet.store
    fleet.store.acquire = async (...args) => {
      fleet.store.acquire = acquire
      const answer = await acquire.apply(fleet.store, args)
      await cache.delete('k')
      return answer
    }
    await other.getOrSet('k', () => 'alone')
    const events = trace(other, 'lead')
    await other.getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it('is remembered from when the store was asked on, however late its answer came', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.acquire = async () => {
      await fleet.runtime.advance(100)
      return { kind: 'uncacheable', remaining: 300, share: false }
    }
    await cache.getOrSet('k', () => 'alone')
    const questions = countQuestions(fleet)
    await fleet.runtime.advance(199)
    await cache.getOrSet('k', () => 'alone')
    expect(questions.count).toBe(0)
    await fleet.runtime.advance(1)
    await cache.getOrSet('k', () => 'alone')
    expect(questions.count).toBe(2)
  })

  it('is asked for again when the store is back that was away when it was called so', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const { read, acquire } = fleet.store
    const away = { kind: 'away', why: 'error', cause: new Error('reset') } as const
    fleet.store.read = () => Promise.resolve({ kind: 'missing', version: '', away })
    fleet.store.acquire = () => Promise.resolve({ kind: 'uncacheable', remaining: 10_000, share: false })
    await cache.getOrSet('k', () => 'alone')
    Object.assign(fleet.store, { read, acquire })
    const events = trace(cache, 'lead')
    await cache.getOrSet('k', () => 'kept')
    expect(events).toEqual(['lead'])
  })

  it('has its callers wait for their turns as one, so that they do not take every place there is', async () => {
    const fleet = await unshareableFleet('10s', { maxLoads: 1, maxWaitersPerKey: 1 })
    const cache = fleet.caches[1]
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    const bob = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(await rejection(cache.getOrSet('k', origin.loader))).toMatchObject({ code: 'CATTLEGRID_TOO_MANY_WAITERS' })
    expect(origin.count).toBe(1)
    origin.last.resolve('ann')
    expect(await ann).toBe('ann')
    await settle(fleet)
    origin.last.resolve('bob')
    expect(await bob).toBe('bob')
  })

  it('is forgotten when there are too many of them: then the store is asked', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.acquire = () => Promise.resolve({ kind: 'uncacheable', remaining: 10_000, share: false })
    for (let n = 0; n <= 10_000; n += 1) await cache.getOrSet(`k${n}`, () => n)
    const questions = countQuestions(fleet)
    await cache.getOrSet('k10000', () => 1)
    expect(questions.count).toBe(0)
    await cache.getOrSet('k0', () => 0)
    expect(questions.count).toBe(2)
  })

  it('gives every caller a load of its own, whatever these loads say', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable({ share: false }))
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    const bob = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
    origin.loads[0]?.resolve('ann')
    origin.loads[1]?.resolve('bob')
    expect(await Promise.all([ann, bob])).toEqual(['ann', 'bob'])
  })

  it('gives one to a caller that has to ask the store while another one’s goes on', async () => {
    const fleet = await unshareableFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    await fleet.runtime.advance(1000)
    const bob = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(2)
    origin.loads[0]?.resolve('ann')
    origin.loads[1]?.resolve('bob')
    expect(await Promise.all([ann, bob])).toEqual(['ann', 'bob'])
  })
})

describe('a key that is remembered as uncacheable but shareable', () => {
  it('is asked for each time: its loads are joined, so there are few of them', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.getOrSet('k', (load) => load.uncacheable())
    const questions = countQuestions(fleet)
    for (const value of ['a', 'b']) expect(await cache.getOrSet('k', () => value)).toBe(value)
    expect(questions.count).toBe(4)
  })

  it('is loaded once for the callers that are here', async () => {
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

describe('a result that its loader calls unshareable', () => {
  it('late, when others have joined its load, is kept from them too', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const ann = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const bob = cache.getOrSet('k', () => 'bob')
    await settle(fleet)
    origin.last.load.uncacheable({ share: false })
    expect(await bob).toBe('bob')
    origin.last.resolve('ann')
    expect(await ann).toBe('ann')
  })

  it('is told of as unshareable, whatever the loader says after that', async () => {
    const [cache] = createFleet().caches
    const { outcome } = await cache.lookup('k', (load) => {
      load.uncacheable({ share: false })
      load.uncacheable({ share: true })
    })
    expect(outcome).toMatchObject({ kind: 'uncacheable', share: false })
  })
})

describe('a load without the store', () => {
  it('whose result may not be shared gives it to its own caller only', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.read = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
    const calls = ['ann', 'bob', 'eve'].map((user) =>
      cache.getOrSet('k', async (load) => {
        await Promise.resolve()
        load.uncacheable({ share: false })
        return user
      }),
    )
    await settle(fleet)
    expect(await Promise.all(calls)).toEqual(['ann', 'bob', 'eve'])
  })
})
