import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { NO_VERSION } from '@cattlegrid/core/extend'
import { createFleet, type Fleet, Origin, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

describe('refresh', () => {
  it('loads although the value is fresh, and lets the lease decide between processes', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    await cache.set('k', 'old')
    const origin = new Origin()
    const calls = [
      cache.refresh('k', origin.loader),
      cache.refresh('k', origin.loader),
      other.refresh('k', origin.loader),
    ]
    await settle(fleet)
    expect(origin.count).toBe(1)
    origin.last.resolve('new')
    await settle(fleet)
    expect(await Promise.all(calls)).toEqual(['new', 'new', 'new'])
    expect(await other.get('k')).toBe('new')
  })

  describe('does not return the previous value when the load that it joined was not stored', () => {
    /** One refresh leads, and another one joins its load; `lose` takes the lease away. */
    const joins = async (fleet: Fleet, lose: () => Promise<void>, hinder = (): void => {}): Promise<unknown> => {
      const [cache] = fleet.caches
      await cache.set('k', 'old')
      const [first, second] = [new Origin(), new Origin()]
      void cache.refresh('k', first.loader)
      await settle(fleet)
      hinder()
      const joiner = cache.refresh('k', second.loader)
      await settle(fleet)
      await lose()
      first.last.resolve('refused')
      await settle(fleet)
      second.last.resolve('new')
      return await joiner
    }
    const short = { ttl: '1m', lease: { duration: '1s', maxHold: '1s' } } as const

    /** The lease expires, and another process has it for a moment. */
    const takeLease = async ({ runtime, store }: Fleet): Promise<void> => {
      await runtime.advance(1001)
      const seen = store.peek('k', json, runtime.now())?.version ?? NO_VERSION
      const answer = await store.acquire('k', { duration: 1000, seen, wake: false })
      if (answer.kind === 'lead') await store.release(answer.lease, { kind: 'handover' })
    }

    it('because it took longer than its lease, which another process took', async () => {
      const fleet = createFleet(short)
      expect(await joins(fleet, () => takeLease(fleet))).toBe('new')
    })

    it('and its own first read had found the store away', async () => {
      const fleet = createFleet(short)
      const { read } = fleet.store
      const awayOnce = (): void => {
        fleet.store.read = () => {
          fleet.store.read = read
          return Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
        }
      }
      expect(await joins(fleet, () => takeLease(fleet), awayOnce)).toBe('new')
    })

    it('because that value was expired by hand', async () => {
      const fleet = createFleet({ ttl: '1m', staleWhileRevalidate: '1m' })
      expect(await joins(fleet, () => fleet.caches[1].expire('k'))).toBe('new')
    })
  })

  it('is answered with what another process stored meanwhile, although the tags of that have expired since', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache, other] = fleet.caches
    await cache.set('k', 'old')
    const elsewhere = new Origin()
    void other.refresh('k', elsewhere.loader, { tags: ['t'] })
    await settle(fleet)
    const refreshing = cache.refresh('k', never)
    await settle(fleet)
    fleet.muted = true
    elsewhere.last.resolve('new')
    await settle(fleet)
    await fleet.store.invalidateTags(['t'], 'expire')
    await fleet.runtime.advance(1000)
    expect(await refreshing).toBe('new')
  })

  it('does not accept the previous value from a flight that it joined', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    void other.getOrSet('k', elsewhere.loader)
    await settle(fleet)
    const follower = cache.getOrSet('k', never)
    await settle(fleet)
    fleet.muted = true
    elsewhere.last.resolve('old')
    await settle(fleet)
    const refreshing = cache.refresh('k', () => 'new')
    await fleet.runtime.advance(1000)
    expect(await follower).toBe('old')
    expect(await refreshing).toBe('new')
  })
})
