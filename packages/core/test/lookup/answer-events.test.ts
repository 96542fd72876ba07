import { describe, expect, it } from '@jest/globals'
import type { Cache, CacheEvent, EventName } from '@cattlegrid/core'
import { createFleet, Origin, rejection, settle } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

/** What a cache emits, event by event. */
function hear<E extends EventName>(cache: Cache, name: E): readonly CacheEvent<E>[] {
  const heard: CacheEvent<E>[] = []
  cache.on(name, (event) => void heard.push(event))
  return heard
}

describe('every call', () => {
  it('emits a hit or a miss, and each miss ends in one answer', async () => {
    const fleet = createFleet({ ttl: '10s', staleWhileRevalidate: '10s', staleIfError: '1h', softTimeout: '1s' })
    const [cache] = fleet.caches
    const [hits, misses, answers] = [hear(cache, 'hit'), hear(cache, 'miss'), hear(cache, 'answer')]
    const origin = new Origin()
    const first = [cache.getOrSet('k', origin.loader), cache.getOrSet('k', origin.loader)]
    await settle(fleet)
    await fleet.runtime.advance(200)
    origin.last.resolve('one')
    await Promise.all(first)
    expect(answers).toMatchObject(
      ['leader', 'follower'].map((role) => {
        const loaded = { key: 'k', status: 'loaded', from: 'load', age: 0, waited: 200, error: undefined }
        return { ...loaded, role }
      }),
    )
    await cache.getOrSet('k', origin.loader)
    await fleet.runtime.advance(15_000)
    await cache.getOrSet('k', () => Promise.reject(new Error('down')))
    await fleet.runtime.advance(15_000)
    expect(hits.map(({ status, from }) => [status, from])).toEqual([
      ['fresh', 'store'],
      ['stale', 'store'],
    ])
    const slow = cache.getOrSet('k', origin.loader)
    await fleet.runtime.advance(1100)
    expect(await slow).toBe('one')
    const error = await rejection(cache.getOrSet('bad', () => Promise.reject(new Error('down'))))
    expect(answers.slice(2)).toMatchObject([
      { key: 'k', status: 'stale', from: 'store', role: 'none', waited: 1000 },
      { key: 'bad', status: 'failed', from: undefined, role: undefined, error },
    ])
    expect(answers.length).toBe(misses.length)
    expect(hits.length + misses.length).toBe(6)
  })

  it('that waits for a permit in vain emits a wait-timeout, also where it would load for itself alone', async () => {
    const fleet = createFleet({ maxLoads: 1, waitTimeout: '1s' })
    const [cache] = fleet.caches
    const timeouts = hear(cache, 'wait-timeout')
    const origin = new Origin()
    const leading = cache.getOrSet('own', (load) => {
      load.uncacheable({ share: false })
      return origin.loader(load)
    })
    const joined = rejection(cache.getOrSet('own', origin.loader))
    const other = cache.getOrSet('other', origin.loader)
    await settle(fleet)
    origin.last.resolve('own')
    expect(await leading).toBe('own')
    await fleet.runtime.advance(1100)
    expect(await joined).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
    expect(timeouts).toMatchObject([{ key: 'own', waited: expect.any(Number) }])
    origin.last.resolve('other')
    await other
  })

  it('that is aborted during its read ends in an answer, although it has neither hit nor missed', async () => {
    const remote = new Remote()
    remote.delays.read = 100
    const cache = remote.join()
    const [hits, misses, answers] = [hear(cache, 'hit'), hear(cache, 'miss'), hear(cache, 'answer')]
    const leaving = new AbortController()
    const call = rejection(cache.getOrSet('k', () => 1, { signal: leaving.signal }))
    await remote.runtime.advance(50)
    const error = new Error('left')
    leaving.abort(error)
    expect(await call).toBe(error)
    expect([hits, misses]).toEqual([[], []])
    expect(answers).toMatchObject([{ key: 'k', status: 'failed', error }])
  })

  it('says from which copy its hit comes', async () => {
    const remote = new Remote()
    const cache = remote.join({ near: { maxAge: '5s' } })
    const hits = hear(cache, 'hit')
    remote.tell({ kind: 'connected' })
    await cache.set('k', 'kept')
    const ask = (): Promise<string> => cache.getOrSet('k', () => 'not asked')
    await ask()
    await ask()
    await remote.runtime.advance(4000)
    remote.refuses = new Error('gone')
    await cache.with({ near: false }).getOrSet('k', () => 'not asked')
    expect(hits.map(({ from }) => from)).toEqual(['store', 'near', 'outage'])
  })
})

describe('a store that is away', () => {
  it('emits one event for each step that it did not answer and each load that it does not get, none for steps that the breaker keeps back', async () => {
    const remote = new Remote()
    const cache = remote.join({ outage: false })
    const [away, breaker] = [hear(cache, 'away'), hear(cache, 'breaker')]
    await cache.set('k', 'kept')
    await cache.get('k')
    remote.freeze(true)
    const reads = Array.from({ length: 5 }, (_, index) => cache.get(`silent ${index}`))
    await remote.runtime.advance(300)
    await Promise.all(reads)
    expect(breaker).toMatchObject([{ state: 'open' }])
    expect(away).toHaveLength(5)
    for (let call = 0; call < 100; call += 1) await cache.getOrSet('k', () => 'alone')
    await cache.get('unknown')
    await rejection(cache.delete('k'))
    const commits = away.filter(({ step }) => step === 'commit')
    expect([commits.length, away.length - commits.length]).toEqual([100, 5])
  })
})
