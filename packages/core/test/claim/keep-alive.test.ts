import { describe, expect, it } from '@jest/globals'
import type { CacheOptions } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, record, rejection, settle, trace } from '../support/fleet.ts'

/** A fleet whose first cache runs a load that never ends, and the events of the load's lease. */
async function leadingFleet(lease: NonNullable<CacheOptions['lease']>) {
  const fleet: Fleet = createFleet({ lease, loadTimeout: '1m' })
  const events = record(fleet.caches[0], 'renew', 'lease-lost')
  void fleet.caches[0].getOrSet('k', new Origin().loader)
  await fleet.runtime.advance(0)
  return { fleet, events }
}

describe('a lease that is renewed', () => {
  it('is reported with its key and the time that it has left', async () => {
    const { fleet, events } = await leadingFleet({ duration: '3s' })
    await fleet.runtime.advance(1000)
    expect(events).toEqual([['renew', { key: 'k', remaining: 3000 }]])
  })

  it('is not reported as renewed when the store did not answer', async () => {
    const { fleet, events } = await leadingFleet({ duration: '3s' })
    fleet.store.renew = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
    await fleet.runtime.advance(2000)
    expect(events).toEqual([])
  })

  it('is renewed for the last millisecond of maxHold too', async () => {
    const { fleet, events } = await leadingFleet({ duration: '3s', maxHold: 3001 })
    await fleet.runtime.advance(3000)
    expect(events.at(-1)).toEqual(['renew', { key: 'k', remaining: 1 }])
  })
})

describe('a lease whose maxHold is used up', () => {
  it('is lost instead of renewed, at exactly its end, and reported once', async () => {
    const { fleet, events } = await leadingFleet({ duration: '3s', maxHold: '3s' })
    await fleet.runtime.advance(2999)
    expect(events.map(([name]) => name)).toEqual(['renew', 'renew'])
    await fleet.runtime.advance(1)
    expect(events.slice(2)).toEqual([['lease-lost', { key: 'k', why: 'max-hold' }]])
    await fleet.runtime.advance(10_000)
    expect(events).toHaveLength(3)
  })
})

describe('the lease of a load that has ended', () => {
  it.each(['commit', 'release'] as const)(
    'is renewed until the store has answered its %s, which may wait for its turn for longer than the lease lasts',
    async (step) => {
      const fleet = createFleet({ lease: { duration: '3s' } })
      const { [step]: ending } = fleet.store
      let letGo = (): void => {}
      const turn = new Promise<void>((resolve) => (letGo = resolve))
      Object.assign(fleet.store, { [step]: (...args: []) => turn.then(() => Reflect.apply(ending, fleet.store, args)) })
      const call = fleet.caches[0].lookup('k', (load) => {
        if (step === 'release') load.uncacheable()
        return 'value'
      })
      await fleet.runtime.advance(10_000)
      expect(await fleet.store.acquire('k', { duration: 1000, seen: '', wake: false })).toMatchObject({ kind: 'held' })
      letGo()
      expect(await call).toMatchObject({ outcome: { kind: step === 'commit' ? 'committed' : 'uncacheable' } })
      await fleet.runtime.advance(0)
      expect(fleet.runtime.pendingTimers).toBe(0)
    },
  )

  it('is not reported as lost by a renewal that the commit has overtaken', async () => {
    const fleet = createFleet({ lease: { duration: '3s' } })
    const events = trace(fleet.caches[0], 'lease-lost', 'violation')
    const { commit } = fleet.store
    let answer = (): void => {}
    fleet.store.commit = async (...args) => {
      const committed = await commit.apply(fleet.store, args)
      await new Promise<void>((resolve) => (answer = resolve))
      return committed
    }
    const call = fleet.caches[0].lookup('k', () => 'value')
    await fleet.runtime.advance(10_000)
    answer()
    expect(await call).toMatchObject({ outcome: { kind: 'committed' } })
    expect(events).toEqual([])
  })
})

describe('a lease whose renewal is refused', () => {
  it.each([
    ['voided', 'the key was deleted', async ({ caches }: Fleet) => await caches[1].delete('k')],
    ['voided', 'the key was deleted, and another process leads', takeLease],
  ] as const)('is reported as %s when %s, and is renewed no more', async (why, _, lose) => {
    const { fleet, events } = await leadingFleet({ duration: '3s' })
    await lose(fleet)
    await fleet.runtime.advance(10_000)
    expect(events).toEqual([['lease-lost', { key: 'k', why }]])
  })
})

describe('a leader whose lease is refused', () => {
  it.each([
    ['nothing else', async () => {}],
    [
      'an invalidation of a tag, which voids no lease',
      async ({ caches }: Fleet) => await caches[0].invalidateTags(['t']),
    ],
  ])('whose lease has ended and is another’s learns that it was taken, after %s', async (_, happens) => {
    const fleet = createFleet({ lease: { duration: '3s' }, loadTimeout: '1m' })
    const events = record(fleet.caches[0], 'lease-lost')
    const origin = new Origin()
    const late = fleet.caches[0].lookup('k', origin.loader)
    await settle(fleet)
    const { renew } = fleet.store
    fleet.store.renew = () => Promise.resolve({ kind: 'away', why: 'deadline', cause: new Error('no answer') })
    await fleet.runtime.advance(3500)
    await happens(fleet)
    await fleet.store.acquire('k', { duration: 30_000, seen: '', wake: false })
    fleet.store.renew = renew
    await fleet.runtime.advance(500)
    expect(events).toEqual([['lease-lost', { key: 'k', why: 'taken' }]])
    origin.last.resolve('too late')
    expect(await late).toMatchObject({ outcome: { kind: 'refused', why: 'taken' } })
  })

  it('whose lease was voided learns that at its commit too, however long ago, and whoever has the key now', async () => {
    const fleet = createFleet({ lease: { duration: '3s' }, loadTimeout: '1m' })
    const origin = new Origin()
    const late = fleet.caches[0].lookup('k', origin.loader)
    await settle(fleet)
    await takeLease(fleet)
    await fleet.runtime.advance(10_000)
    origin.last.resolve('too late')
    expect(await late).toMatchObject({ outcome: { kind: 'refused', why: 'voided' } })
  })
})

describe('a load that lost its lease', () => {
  async function withoutLease(background: boolean) {
    const fleet = createFleet({ lease: { duration: '3s' }, loadTimeout: '1m', staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    const origin = new Origin()
    const leaving = new AbortController()
    if (background) {
      await cache.set('k', 'stale')
      await fleet.runtime.advance(10_001)
      await cache.getOrSet('k', origin.loader)
      await fleet.runtime.advance(0)
    }
    const call = rejection(cache.getOrSet('k', origin.loader, { signal: leaving.signal, staleWhileRevalidate: false }))
    await fleet.runtime.advance(0)
    await fleet.store.invalidate('k', 'delete', 0)
    return { fleet, origin, leaving, call }
  }

  it.each([
    ['its owner', false],
    ['the only caller that joined it in the background', true],
  ])('is told to stop when %s leaves', async (_, background) => {
    const { fleet, origin, leaving, call } = await withoutLease(background)
    await fleet.runtime.advance(1000)
    expect(origin.loads.map(({ load }) => load.signal.aborted)).toEqual([false])
    leaving.abort(new Error('left'))
    await call
    expect(origin.last.load.signal.reason).toMatchObject({ code: 'CATTLEGRID_LEASE_LOST' })
  })

  it('is told to stop when its result may not be shared with the callers that remain', async () => {
    const { fleet, origin, leaving, call } = await withoutLease(true)
    await fleet.runtime.advance(1000)
    origin.last.load.uncacheable({ share: false })
    expect(origin.last.load.signal.aborted).toBe(true)
    leaving.abort(new Error('left'))
    await call
  })

  it('is told to stop when its caller left before', async () => {
    const { fleet, origin, leaving, call } = await withoutLease(false)
    leaving.abort(new Error('left'))
    await call
    expect(origin.last.load.signal.aborted).toBe(false)
    await fleet.runtime.advance(1000)
    expect(origin.last.load.signal.aborted).toBe(true)
  })
})

/** Ends the lease of the running load, and grants another process its own. */
async function takeLease({ caches, store }: Fleet): Promise<void> {
  await caches[1].delete('k')
  await store.acquire('k', { duration: 30_000, seen: '', wake: false })
}
