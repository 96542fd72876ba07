import { describe, expect, it } from '@jest/globals'
import { createFleet, Origin, settle, rejection } from './fleet.ts'

describe('close', () => {
  it('refuses new calls and lets running loads end and commit', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const closed = cache.close()
    await expect(cache.getOrSet('k', () => 1)).rejects.toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    origin.last.resolve('in time')
    expect(await running).toBe('in time')
    await closed
    expect(await other.get('k')).toBe('in time')
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('aborts what has not ended within the drain, and hands its lease back', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const origin = new Origin()
    const running = cache.getOrSet('k', origin.loader)
    const expected = rejection(running)
    await settle(fleet)
    let abandoned: number | undefined
    cache.on('close', (event) => (abandoned = event.abandoned))
    const closed = cache.close({ drain: '1s' })
    await fleet.runtime.advance(1000)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await closed
    expect(origin.last.load.signal.reason).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    expect(abandoned).toBe(1)
    expect(await other.getOrSet('k', () => 'next leader')).toBe('next leader')
  })

  it('ends the wait of followers too', async () => {
    const fleet = createFleet()
    const [cache, leader] = fleet.caches
    const origin = new Origin()
    void leader.getOrSet('k', origin.loader)
    const following = cache.getOrSet('k', origin.loader)
    const expected = rejection(following)
    await settle(fleet)
    const closed = cache.close({ drain: 0 })
    await fleet.runtime.advance(1)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await closed
  })

  it('may be called twice', async () => {
    const [cache] = createFleet().caches
    expect(await Promise.all([cache.close(), cache.close()])).toEqual([undefined, undefined])
  })
})
