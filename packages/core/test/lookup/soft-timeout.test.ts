import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin } from '../support/fleet.ts'

async function expired(fleet: Fleet, by: number): Promise<string> {
  await fleet.caches[0].set('k', 'stale')
  await fleet.runtime.advance(10_000 + by)
  const entry = fleet.store.peek('k', json, 0)
  return entry?.version ?? ''
}

describe('a call that was served a stale value at softTimeout', () => {
  it('keeps its follower running, even without other callers', async () => {
    const fleet = createFleet({ staleIfError: '1h', softTimeout: '300ms' })
    const seen = await expired(fleet, 1)
    await fleet.store.acquire('k', { duration: 2000, seen, wake: false })
    const origin = new Origin()
    const call = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(300)
    const { value, refresh } = await call
    expect(value).toBe('stale')
    await fleet.runtime.advance(2000)
    expect(origin.count).toBe(1)
    origin.last.resolve('new')
    expect(await refresh).toEqual({ kind: 'committed' })
  })

  it('waits for the load instead when the stale window closed meanwhile', async () => {
    const fleet = createFleet({ staleIfError: '2s', softTimeout: '300ms' })
    await expired(fleet, 1900)
    const origin = new Origin()
    const call = fleet.caches[0].lookup('k', origin.loader)
    await fleet.runtime.advance(5000)
    origin.last.resolve('new')
    expect(await call).toMatchObject({ value: 'new', status: 'loaded' })
    expect(origin.count).toBe(1)
  })
})
