import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import type { ManualRuntime } from '@cattlegrid/testkit'
import { createFleet, Origin, settle } from '../support/fleet.ts'
import { memoryCache, never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

let runtime: ManualRuntime
let cache: Cache

beforeEach(() => {
  ;({ runtime, cache } = memoryCache())
})

describe('a paused cache', () => {
  it('serves no stored value, and stores none', async () => {
    await cache.set('k', 'stored')
    cache.pause()
    expect(cache.paused).toBe(true)
    expect([cache.peek('k'), await cache.get('k', { stale: true }), await cache.read('k')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(await cache.getMany(['k'])).toEqual(new Map())
    expect(await cache.lookup('k', () => 'loaded')).toMatchObject({ value: 'loaded', role: 'leader', freshFor: 0 })
    expect(await cache.refresh('k', () => 'again')).toBe('again')
    cache.resume()
    expect(await cache.getOrSet('k', never)).toBe('stored')
  })

  it('calls the loader of every caller, inside maxLoads', async () => {
    const bounded = createCache({ runtime, ttl: '1m', maxLoads: 2 })
    bounded.pause()
    let running = 0
    let most = 0
    const loader = jest.fn(async () => {
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
      return 'value'
    })
    await Promise.all(Array.from({ length: 6 }, () => bounded.getOrSet('k', loader)))
    expect([loader.mock.calls.length, most]).toEqual([6, 2])
  })

  it('calls one loader for many keys, of which none is stored', async () => {
    await cache.set('a', 'stored')
    cache.pause()
    const loader = jest.fn((keys: readonly string[]) => new Map(keys.map((key) => [key, `${key} loaded`])))
    expect([...(await cache.getOrSetMany(['a', 'b'], loader)).values()]).toEqual(['a loaded', 'b loaded'])
    expect(loader).toHaveBeenCalledTimes(1)
    cache.resume()
    expect(await cache.getMany(['a', 'b'])).toEqual(new Map([['a', 'stored']]))
  })

  it('still refuses a loader that asks for its own key', async () => {
    cache.pause()
    const call = cache.getOrSet('k', () => cache.getOrSet('k', () => 'inner'))
    await expect(call).rejects.toMatchObject({ code: 'CATTLEGRID_REENTRANT' })
  })

  it('still invalidates, so that no old value comes back when it resumes', async () => {
    await cache.set('k', 'old')
    cache.pause()
    await cache.delete('k')
    cache.resume()
    expect(await cache.getOrSet('k', () => 'new')).toBe('new')
  })

  it('is paused for all of its views', async () => {
    const view = cache.with({ ttl: '1h' })
    await cache.set('k', 'stored')
    view.pause()
    expect(cache.peek('k')).toBeUndefined()
    cache.resume()
    expect(view.paused).toBe(false)
    expect(view.peek('k')).toMatchObject({ value: 'stored' })
  })
})

describe('a cache that is paused', () => {
  it('during a load gives the value to its callers, and does not store it', async () => {
    const fleet = createFleet()
    const [paused, other] = fleet.caches
    const origin = new Origin()
    const call = paused.lookup('k', origin.loader)
    await settle(fleet)
    paused.pause()
    origin.last.resolve('unstored')
    expect(await call).toMatchObject({
      value: 'unstored',
      freshFor: 0,
      outcome: { kind: 'abandoned', why: 'unleased' },
    })
    expect(await other.getOrSet('k', () => 'next')).toBe('next')
  })

  it('during a wait for another process serves the follower nothing that was stored', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: '1s' })
    const [leading, paused] = fleet.caches
    const origin = new Origin()
    const led = leading.getOrSet('k', origin.loader)
    await settle(fleet)
    const follower = paused.lookup('k', () => 'own')
    await settle(fleet)
    paused.pause()
    origin.last.resolve('stored')
    await led
    await settle(fleet)
    expect(await follower).toMatchObject({ value: 'own', status: 'loaded', role: 'leader' })
  })

  it('while a stale value is in hand serves that neither at softTimeout nor for a failed load', async () => {
    const fleet = createFleet({ ttl: '1s', staleIfError: '1h', softTimeout: '1s' })
    const [paused] = fleet.caches
    await paused.set('k', 'stored')
    await fleet.runtime.advance(1500)
    const origin = new Origin()
    const slow = paused.getOrSet('k', origin.loader)
    await settle(fleet)
    paused.pause()
    await fleet.runtime.advance(1000)
    origin.last.resolve('own')
    expect(await slow).toBe('own')
  })

  it('during a read of the store serves nothing of it', async () => {
    const remote = new Remote()
    const remotely = remote.join()
    await remotely.set('k', 'stored')
    remote.delays.read = 10
    const calls = [remotely.get('k'), remotely.getMany(['k']), remotely.getOrSet('k', () => 'own')]
    await remote.runtime.advance(5)
    remotely.pause()
    await remote.runtime.advance(10)
    expect(await Promise.all(calls)).toEqual([undefined, new Map(), 'own'])
  })
})

describe('an operator’s pause of all processes', () => {
  /** A cache with a stored value, and what it says. */
  async function told(): Promise<{
    readonly remote: Remote
    readonly shared: Cache
    readonly says: readonly string[]
  }> {
    const remote = new Remote()
    const shared = remote.join({ ttl: '1h' })
    const says: string[] = []
    shared.on('warning', ({ message }) => void says.push(message))
    await shared.set('k', 'stored')
    return { remote, shared, says }
  }

  it('reaches each cache by a notice, ends by itself, and is told at its begin and its end', async () => {
    const { remote, shared, says } = await told()
    remote.tell({ kind: 'paused', remaining: 60_000 })
    expect([shared.paused, await shared.getOrSet('k', () => 'own')]).toEqual([true, 'own'])
    await remote.runtime.advance(59_999)
    expect(shared.paused).toBe(true)
    await remote.runtime.advance(1)
    expect([shared.paused, await shared.getOrSet('k', never)]).toEqual([false, 'stored'])
    expect(says).toEqual([expect.stringContaining('for 1 min 0 s'), expect.stringContaining('has ended')])
  })

  it('is as long as the last notice says, and told once', async () => {
    const { remote, shared, says } = await told()
    remote.tell({ kind: 'paused', remaining: 60_000 })
    remote.tell({ kind: 'paused', remaining: 1000 })
    await remote.runtime.advance(500)
    remote.tell({ kind: 'paused', remaining: 1000 })
    await remote.runtime.advance(999)
    expect([shared.paused, says.length]).toEqual([true, 1])
    await remote.runtime.advance(1)
    expect([shared.paused, says.length]).toEqual([false, 2])
  })

  it('ends with a notice; that of another one, which is not there, says nothing', async () => {
    const { remote, shared, says } = await told()
    remote.tell({ kind: 'paused', remaining: 0 })
    expect(says).toEqual([])
    remote.tell({ kind: 'paused', remaining: 60_000 })
    remote.tell({ kind: 'paused', remaining: 0 })
    expect([shared.paused, says.length]).toEqual([false, 2])
  })

  it('is not ended by resume(), and does not end a pause of the process itself', async () => {
    const { remote, shared } = await told()
    remote.tell({ kind: 'paused', remaining: 60_000 })
    shared.resume()
    expect(shared.paused).toBe(true)
    shared.pause()
    remote.tell({ kind: 'paused', remaining: 0 })
    expect(shared.paused).toBe(true)
    shared.resume()
    expect(shared.paused).toBe(false)
  })

  it('says nothing more in a cache that was closed', async () => {
    const { remote, shared, says } = await told()
    remote.tell({ kind: 'paused', remaining: 60_000 })
    await shared.close()
    await remote.runtime.advance(60_000)
    expect(says).toHaveLength(1)
  })
})
