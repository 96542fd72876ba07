import { describe, expect, it } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { lead } from '../support/claims.ts'
import { createFleet, type Fleet, record, rejection, settle, trace } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

describe('the lead of a claim', () => {
  it('stores with the windows and tags that its commit names, and leaves the others as the claim has them', async () => {
    const fleet = createFleet()
    await (await lead(fleet.caches[0], 'k', { ttl: '5s' })).commit('value', { tags: ['a'] })
    expect(await fleet.caches[1].inspect('k')).toMatchObject({ freshFor: 5000, tags: ['a'] })
  })

  it('refuses a promise and unknown options, and goes on', async () => {
    const leading = await lead(createFleet().caches[0])
    await expect(leading.commit(Promise.resolve('late'))).rejects.toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION' })
    await expect(leading.commit('value', { tll: '5s' } as object)).rejects.toMatchObject({
      code: 'CATTLEGRID_INVALID_OPTION',
    })
    expect(await leading.commit('value')).toEqual({ kind: 'committed' })
  })

  it('has one ending: the first one counts', async () => {
    const { caches } = createFleet()
    const leading = await lead(caches[0])
    const outcomes = await Promise.all([
      leading.commit('value'),
      leading.fail(new Error('too late')),
      leading.commit(2),
    ])
    expect(outcomes).toEqual([{ kind: 'committed' }, { kind: 'committed' }, { kind: 'committed' }])
    await leading.handOver()
    expect(await leading.renew()).toBe(false)
    expect(await caches[1].get('k')).toBe('value')
  })

  it('writes nothing once the key was deleted', async () => {
    const { caches } = createFleet()
    const leading = await lead(caches[0])
    await caches[1].delete('k')
    expect(await leading.commit('old')).toEqual({ kind: 'refused', why: 'voided' })
    expect(await caches[2].get('k')).toBeUndefined()
  })

  it('is stale from its commit on when one of its tags was expired meanwhile, and nothing when it was invalidated', async () => {
    const { caches } = createFleet({ staleWhileRevalidate: '1m' })
    const leading = await lead(caches[0], 'k', { tags: ['t'] })
    await caches[1].invalidateTags(['t'])
    expect(await leading.commit('old')).toMatchObject({ kind: 'refused' })
    expect(await caches[2].get('k', { stale: true })).toBeUndefined()
  })

  it('ends with an error as a load does: it cools the key down, and those that wait get the error', async () => {
    const fleet = createFleet()
    const leading = await lead(fleet.caches[0])
    const waiting = [rejection(fleet.caches[0].claim('k')), rejection(fleet.caches[1].getOrSet('k', never))]
    await settle(fleet)
    expect(await leading.fail(new Error('source is down'))).toMatchObject({ kind: 'failed', cooldown: 100 })
    const [joined, followed] = await Promise.all(waiting)
    expect(joined).toEqual(new Error('source is down'))
    expect(followed).toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED' })
  })

  it('goes to the next caller when it is handed over, in this process and in another', async () => {
    const fleet = createFleet()
    for (const next of [fleet.caches[0], fleet.caches[1]]) {
      const leading = await lead(fleet.caches[0])
      const claiming = next.claim<string>('k')
      await settle(fleet)
      await leading.handOver()
      const taken = await claiming
      expect(taken.kind).toBe('lead')
      if (taken.kind === 'lead') await taken.handOver()
    }
  })

  it('is handed over at the end of await using', async () => {
    const { caches } = createFleet()
    const leading = await lead(caches[0])
    await leading[Symbol.asyncDispose]()
    expect((await lead(caches[1])).kind).toBe('lead')
  })

  it('ends with its hold: its signal is aborted, nothing that comes later is stored, and the next caller leads', async () => {
    const fleet = createFleet()
    const events = record(fleet.caches[0], 'lease-lost', 'load-failed')
    const leading = await lead(fleet.caches[0], 'k', { hold: '2s' })
    const claiming = fleet.caches[1].claim<string>('k')
    const joining = fleet.caches[0].getOrSet('k', async () => 'by the next one')
    await fleet.runtime.advance(1999)
    expect(leading.signal.aborted).toBe(false)
    await fleet.runtime.advance(20)
    expect(leading.signal.reason).toMatchObject({ code: 'CATTLEGRID_LEASE_LOST' })
    expect(events).toEqual([['lease-lost', { key: 'k', why: 'expired' }]])
    expect(await leading.commit('too late')).toEqual({ kind: 'refused', why: 'expired' })
    const next = await claiming
    if (next.kind === 'lead') await next.commit('by the next one')
    expect(await joining).toBe('by the next one')
  })

  it('of a process that stood still past its hold still stores on memory, while nobody has taken the key', async () => {
    const cache = createCache({ ttl: '1m' })
    const leading = await lead(cache, 'k', { hold: '50ms' })
    const claiming = cache.claim('k')
    // Blocks the thread: no timer of the cache runs before the commit.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80)
    expect(await leading.commit('late')).toEqual({ kind: 'committed' })
    expect(await claiming).toMatchObject({ kind: 'value', value: 'late' })
  })

  it('lasts as long as its holder renews it, and no longer than maxHold', async () => {
    const fleet = createFleet({ lease: { duration: '1s', maxHold: '3s' } })
    const leading = await lead(fleet.caches[0], 'k', { hold: '1s' })
    for (let second = 0; second < 3; second += 1) {
      await fleet.runtime.advance(900)
      expect(await leading.renew()).toBe(true)
    }
    await fleet.runtime.advance(299)
    expect(leading.signal.aborted).toBe(false)
    await fleet.runtime.advance(2)
    expect(leading.signal.aborted).toBe(true)
    expect(await leading.renew()).toBe(false)
  })

  it.each([
    ['the key was deleted', () => Promise.resolve()],
    ['the key was deleted, and another process leads', ({ caches }: Fleet) => lead(caches[1])],
  ])('is lost when its renewal is refused, and says that it was voided: %s', async (_, follows) => {
    const fleet = createFleet()
    const events = record(fleet.caches[0], 'lease-lost')
    const leading = await lead(fleet.caches[0])
    await fleet.caches[1].delete('k')
    await follows(fleet)
    expect(await leading.renew()).toBe(false)
    expect(leading.signal.aborted).toBe(true)
    expect(events).toEqual([['lease-lost', { key: 'k', why: 'voided' }]])
    expect(await leading.commit('old')).toEqual({ kind: 'refused', why: 'voided' })
  })

  it('that was renewed and then voided says so at its commit too, although another process leads', async () => {
    const fleet = createFleet({ lease: { maxHold: '1m' } })
    const leading = await lead(fleet.caches[0], 'k', { hold: '1s' })
    await fleet.runtime.advance(900)
    await leading.renew()
    await fleet.runtime.advance(900)
    fleet.muted = true
    await fleet.caches[1].delete('k')
    await lead(fleet.caches[1])
    expect(await leading.commit('old')).toEqual({ kind: 'refused', why: 'voided' })
  })

  it('is not renewed by itself, and leaves no timer behind', async () => {
    const fleet = createFleet()
    const renewals = trace(fleet.caches[0], 'renew')
    const leading = await lead(fleet.caches[0], 'k', { hold: '9s' })
    await fleet.runtime.advance(8000)
    expect(renewals).toEqual([])
    await leading.commit('value')
    await settle(fleet)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('goes back when the cache closes, and what its holder does then has no effect', async () => {
    const fleet = createFleet()
    const leading = await lead(fleet.caches[0])
    const closing = fleet.caches[0].close({ drain: 0 })
    await settle(fleet)
    await closing
    expect(leading.signal.reason).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    expect(await leading.commit('too late')).toEqual({ kind: 'abandoned', why: 'closed' })
    expect((await lead(fleet.caches[1])).kind).toBe('lead')
  })

  it('takes a permit of maxLoads until it ends', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const leading = await lead(fleet.caches[0])
    const claiming = fleet.caches[0].claim('other')
    await settle(fleet)
    await leading.commit('value')
    expect(await claiming).toMatchObject({ kind: 'lead' })
  })

  it('refuses a hold that is longer than maxHold', async () => {
    const { caches } = createFleet({ lease: { maxHold: '10s' } })
    await expect(caches[0].claim('k', { hold: '20s' })).rejects.toThrow('claim.hold')
  })
})
