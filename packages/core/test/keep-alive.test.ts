import { describe, expect, it } from '@jest/globals'
import type { CacheOptions } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, record } from './fleet.ts'

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

describe('a lease whose renewal is refused', () => {
  it.each([
    ['voided', 'the key was deleted', async ({ caches }: Fleet) => await caches[1].delete('k')],
    ['taken', 'another process leads', takeLease],
  ] as const)('is reported as %s when %s, and is renewed no more', async (why, _, lose) => {
    const { fleet, events } = await leadingFleet({ duration: '3s' })
    await lose(fleet)
    await fleet.runtime.advance(10_000)
    expect(events).toEqual([['lease-lost', { key: 'k', why }]])
  })
})

/** Ends the lease of the running load, and grants another process its own. */
async function takeLease({ caches, store }: Fleet): Promise<void> {
  await caches[1].delete('k')
  await store.acquire('k', { duration: 30_000, seen: '', wake: false, tags: false })
}
