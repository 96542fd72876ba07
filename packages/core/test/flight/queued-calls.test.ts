import { describe, expect, it } from '@jest/globals'
import { createFleet, type Fleet, Origin, settle } from '../support/fleet.ts'
import { Deferred } from '../../src/flight/deferred.ts'
import { LeaseWaiters } from '../../src/flight/lease-waiters.ts'
import { never } from '../support/memory-cache.ts'

/** A process whose only permit is taken. */
async function withBusyPermit(): Promise<{ readonly fleet: Fleet; readonly running: Origin }> {
  const fleet = createFleet({ maxLoads: 1 })
  const running = new Origin()
  void fleet.caches[0].getOrSet('running', running.loader)
  await settle(fleet)
  return { fleet, running }
}

const stateOf = (call: Promise<unknown>): Promise<unknown> => Promise.race([call, Promise.resolve('waits')])

describe('a call that queues for a permit', () => {
  it('gets the value that another process commits meanwhile, at its next poll', async () => {
    const { fleet } = await withBusyPermit()
    const [busy, idle] = fleet.caches
    const queued = busy.getOrSet('k', never)
    await settle(fleet)
    await idle.getOrSet('k', () => 'loaded elsewhere')
    await fleet.runtime.advance(500)
    expect(await stateOf(queued)).toBe('loaded elsewhere')
  })

  it('gets the value that its own process sets meanwhile, at once', async () => {
    const { fleet } = await withBusyPermit()
    const [cache] = fleet.caches
    const queued = cache.getOrSet('k', never)
    await settle(fleet)
    await cache.set('k', 'set here')
    await settle(fleet)
    expect(await stateOf(queued)).toBe('set here')
  })

  it('polls, because a notice may be lost', async () => {
    const { fleet } = await withBusyPermit()
    const [busy, idle] = fleet.caches
    fleet.muted = true
    const queued = busy.getOrSet('k', never)
    await settle(fleet)
    await idle.set('k', 'set elsewhere')
    await fleet.runtime.advance(499)
    expect(await stateOf(queued)).toBe('waits')
    await fleet.runtime.advance(1)
    expect(await stateOf(queued)).toBe('set elsewhere')
  })

  it('keeps its place while it reads again', async () => {
    const { fleet, running } = await withBusyPermit()
    const [cache] = fleet.caches
    const origin = new Origin()
    const calls = ['first', 'second'].map((key) => cache.getOrSet(key, origin.loader))
    await settle(fleet)
    await cache.delete('first')
    await fleet.runtime.advance(1200)
    running.last.resolve('ran')
    await settle(fleet)
    expect(origin.loads.map(({ load }) => load.key)).toEqual(['first'])
    origin.last.resolve('one')
    await settle(fleet)
    origin.last.resolve('two')
    expect(await Promise.all(calls)).toEqual(['one', 'two'])
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('leaves the queue when it finds its value', async () => {
    const { fleet, running } = await withBusyPermit()
    const [cache] = fleet.caches
    const queued = cache.getOrSet('k', never)
    await settle(fleet)
    await cache.set('k', 'set')
    await settle(fleet)
    expect(await stateOf(queued)).toBe('set')
    running.last.resolve('ran')
    await settle(fleet)
    const next = cache.getOrSet('next', () => 'loaded')
    await settle(fleet)
    expect(await stateOf(next)).toBe('loaded')
  })

  it('ends at its waitTimeout, which also counts while it polls', async () => {
    const { fleet } = await withBusyPermit()
    const queued = fleet.caches[0].getOrSet('k', never, { waitTimeout: '1200ms' }).catch((error: unknown) => error)
    await fleet.runtime.advance(1199)
    expect(await stateOf(queued)).toBe('waits')
    await fleet.runtime.advance(1)
    expect(await stateOf(queued)).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
  })
})

it('those that wait read again less often where they are many', async () => {
  const { runtime } = createFleet()
  const waiters = new LeaseWaiters(runtime)
  const ends = new Deferred<void>()
  const wait = (key: number): Promise<unknown> => waiters.register(`k${key}`).waitForNotice(1e6, 1e6, ends.promise)
  const all = Array.from({ length: 4000 }, (_, key) => wait(key))
  expect(waiters.register('one more').pollInterval).toBe(2000)
  ends.resolve()
  await Promise.all(all)
  expect(waiters.register('one more').pollInterval).toBe(500)
})
