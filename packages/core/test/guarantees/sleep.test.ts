import { describe, expect, it } from '@jest/globals'
import { memoryStore } from '@cattlegrid/core'
import type { RefreshRequest } from '@cattlegrid/core/extend'
import { createManualRuntime } from '@cattlegrid/testkit'
import { createFleet, Origin, settle, trace } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

const HOUR = 3_600_000

// The host sleeps: entries get older, and nothing that waits has waited.
describe('a sleep of the host', () => {
  it('makes entries older', async () => {
    const fleet = createFleet({ ttl: '10s', staleIfError: '1m' })
    const [cache] = fleet.caches
    await cache.set('k', 'old')
    fleet.runtime.sleep(30_000)
    expect(await cache.get('k')).toBeUndefined()
    expect(await cache.read('k')).toMatchObject({ value: 'old', state: 'stale', age: 30_000 })
    fleet.runtime.sleep(HOUR)
    expect(await cache.read('k')).toBeUndefined()
  })

  it('ends no wait of a follower, and no lease of a leader', async () => {
    const fleet = createFleet({ waitTimeout: '15s', loadTimeout: '30s' })
    const [leading, following] = fleet.caches
    const seen = trace(following, 'wait-timeout')
    trace(leading, 'lease-lost')
    const origin = new Origin()
    const led = leading.getOrSet('k', origin.loader)
    await settle(fleet)
    const followers = Array.from({ length: 20 }, () => following.getOrSet('k', never))
    await fleet.runtime.advance(1000)
    fleet.runtime.sleep(HOUR)
    await fleet.runtime.advance(1000)
    origin.last.resolve('loaded')
    expect(await led).toBe('loaded')
    expect(new Set(await Promise.all(followers))).toEqual(new Set(['loaded']))
    expect([seen, origin.count]).toEqual([[], 1])
  })

  it('does not let a second process load beside a leader', async () => {
    const fleet = createFleet({ lease: { duration: '5s' } })
    const [leading, other] = fleet.caches
    const origin = new Origin()
    const led = leading.getOrSet('k', origin.loader)
    await settle(fleet)
    fleet.runtime.sleep(HOUR)
    const elsewhere = new Origin()
    const followed = other.getOrSet('k', elsewhere.loader)
    await settle(fleet)
    expect(elsewhere.count).toBe(0)
    origin.last.resolve('loaded')
    await fleet.runtime.advance(600)
    expect([await led, await followed]).toEqual(['loaded', 'loaded'])
  })

  it.each([
    ['a cooldown', { kind: 'failed', failure: { name: 'Error' }, cooldown: 5000, attempts: 1 }, 'cooling'],
    ['an uncacheable mark', { kind: 'uncacheable', for: 5000, share: true }, 'uncacheable'],
  ] as const)('ends no %s of a memory store', async (_, ending, answer) => {
    const runtime = createManualRuntime()
    const store = memoryStore({ runtime })
    const ask = () => store.acquire('k', { duration: 1000, seen: '', wake: false })
    const granted = await ask()
    if (granted.kind === 'lead') await store.release(granted.lease, ending)
    runtime.sleep(HOUR)
    await runtime.advance(2000)
    expect((await ask()).kind).toBe(answer)
    await runtime.advance(5000)
    expect((await ask()).kind).toBe('lead')
  })

  it('ends no hold-off, and gives no permit of a budget early', async () => {
    const runtime = createManualRuntime()
    const store = memoryStore({ runtime })
    await store.invalidate('k', 'delete', 5000)
    const request = (token: string): RefreshRequest => ({ token, perSecond: 1, atOnce: 1, holdFor: 10_000 })
    await store.permitRefresh(request('one'))
    runtime.sleep(HOUR)
    expect((await store.acquire('k', { duration: 1000, seen: '', wake: false })).kind).toBe('held-off')
    expect((await store.permitRefresh(request('two'))).kind).toBe('exhausted')
  })
})
