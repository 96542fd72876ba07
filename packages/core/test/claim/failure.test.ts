import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, rejection, settle, trace } from '../support/fleet.ts'

class QueryError extends Error {
  override readonly name = 'QueryError'
  readonly code = '57014'
}

describe('a failing load', () => {
  it('rejects the callers of its flight with the same error, and hangs no caller in other processes', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    const error = new QueryError('SELECT secret')
    const here = [0, 1].map(() => fleet.caches[0].getOrSet('k', origin.loader))
    const elsewhere = fleet.caches[1].getOrSet('k', origin.loader)
    await settle(fleet)
    const settled = Promise.allSettled([...here, elsewhere])
    origin.last.reject(error)
    await settle(fleet)
    const [first, second, third] = (await settled) as PromiseRejectedResult[]
    expect(first?.reason).toBe(error)
    expect(second?.reason).toBe(error)
    expect(third?.reason).toMatchObject({
      code: 'CATTLEGRID_LOAD_FAILED',
      key: 'k',
      attempts: 1,
      retryAfter: 100,
      cause: { name: 'QueryError', code: '57014' },
    })
    expect(String(third?.reason)).not.toContain('secret')
    expect(origin.count).toBe(1)
  })

  it('shares its message with other processes only with shareErrorMessages', async () => {
    const fleet = createFleet({ shareErrorMessages: true })
    const fail = () => Promise.reject(new QueryError('no such table'))
    await fleet.caches[0].getOrSet('k', fail).catch(() => {})
    const error: unknown = await fleet.caches[1].getOrSet('k', fail).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ cause: { message: 'no such table' } })
    expect(String(error)).toContain('no such table')
  })

  it('is retried once per cooldown by the whole fleet, and each cooldown doubles up to its maximum', async () => {
    const fleet = createFleet({ failureCooldown: { min: '100ms', max: '400ms' } })
    const loads: number[] = []
    const begin = fleet.runtime.now()
    const failing = () => {
      loads.push(fleet.runtime.now() - begin)
      return Promise.reject(new Error('down'))
    }
    for (let tick = 0; tick < 160; tick += 1) {
      await Promise.allSettled(fleet.caches.map((cache) => cache.getOrSet('k', failing)))
      await fleet.runtime.advance(10)
    }
    expect(loads).toEqual([0, 100, 300, 700, 1100, 1500])
  })

  it('cools down for no longer than the call’s failureCooldown.max, even if the clock of the store was set back', async () => {
    const fleet = createFleet({ failureCooldown: { min: '100ms', max: '200ms' } })
    const answer = await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false })
    if (answer.kind !== 'lead') throw new Error(answer.kind)
    const ending = { kind: 'failed', failure: { name: 'Error' }, attempts: 2 } as const
    await fleet.store.release(answer.lease, { ...ending, cooldown: 120_000 })
    expect(await fleet.caches[0].getOrSet('k', () => 'loaded')).toBe('loaded')
  })

  it('resets the count of attempts after a load that succeeded', async () => {
    const fleet = createFleet({ failureCooldown: { min: '100ms' }, ttl: '50ms' })
    const [cache] = fleet.caches
    const cooldowns: number[] = []
    cache.on('load-failed', ({ cooldown }) => cooldowns.push(cooldown))
    const fail = () => Promise.reject(new Error('down'))
    await cache.getOrSet('k', fail).catch(() => {})
    await fleet.runtime.advance(101)
    await cache.getOrSet('k', () => 'up')
    await fleet.runtime.advance(51)
    await cache.getOrSet('k', fail).catch(() => {})
    expect(cooldowns).toEqual([100, 100])
  })

  it('starts no cooldown when isFailure returns false, and its error is preferred to a stale value', async () => {
    const fleet = createFleet({ staleIfError: '1h', isFailure: (error) => error !== 'not found' })
    const [cache] = fleet.caches
    await cache.set('k', 'stale')
    await fleet.runtime.advance(10_001)
    await expect(cache.getOrSet('k', () => Promise.reject('not found'))).rejects.toBe('not found')
    expect(await cache.getOrSet('k', () => 'found again')).toBe('found again')
  })

  it('counts as a failure when isFailure itself throws', async () => {
    const fleet = createFleet({
      isFailure: () => {
        throw new Error('broken predicate')
      },
    })
    const [cache] = fleet.caches
    const events = trace(cache, 'load-failed')
    await expect(cache.getOrSet('k', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    expect(events).toEqual(['load-failed'])
  })

  it('rejects with the thrown value, even if it is no Error', async () => {
    const [cache] = createFleet().caches
    for (const thrown of ['text', undefined, null, 7]) {
      const loader = (): never => {
        throw thrown
      }
      await expect(cache.getOrSet(`k${String(thrown)}`, loader)).rejects.toBe(thrown)
    }
  })

  it('serves everybody from one load per process while the store is away', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.read = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('ECONNREFUSED') })
    const origin = new Origin()
    const calls = Promise.all(Array.from({ length: 20 }, () => cache.lookup('k', origin.loader)))
    await settle(fleet)
    origin.last.resolve('value')
    const [first] = await calls
    expect(first).toMatchObject({ value: 'value', outcome: { kind: 'abandoned', why: 'away' } })
    expect(origin.count).toBe(1)
  })

  it('in a store that breaks its contract and throws still reaches the caller', async () => {
    const fleet = createFleet()
    fleet.store.acquire = () => Promise.reject(new Error('broken store'))
    await expect(fleet.caches[0].getOrSet('k', () => 1)).rejects.toThrow('broken store')
  })
})

describe('a caller whose signal stops its own loader', () => {
  it('fails neither its joiners nor the key', async () => {
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
