import { describe, expect, it } from '@jest/globals'
import type { Cache, CacheOptions } from '@cattlegrid/core'
import { Origin } from './fleet.ts'
import { Remote } from './remote.ts'

const BURST = 2000
const MOST_IN_FLIGHT = 512

interface Setup {
  readonly remote: Remote
  readonly cache: Cache
  /** The reasons why the store was away. */
  readonly away: readonly string[]
}

function setUp(options: CacheOptions = {}): Setup {
  const remote = new Remote()
  const cache = remote.join({ maxWaiters: BURST, ...options })
  const away: string[] = []
  cache.on('away', ({ step, error }) => void away.push(`${step}: ${(error as Error).message}`))
  return { remote, cache, away }
}

const keys = Array.from({ length: BURST }, (_, index) => `k${index}`)

describe('a burst of steps', () => {
  it('is sent a part at a time', async () => {
    const { remote, cache } = setUp()
    remote.delays.read = 100
    const reads = Promise.all(keys.map((key) => cache.get(key)))
    for (let sent = MOST_IN_FLIGHT; sent < BURST; sent += MOST_IN_FLIGHT) {
      expect(remote.count('read')).toBe(sent)
      await remote.runtime.advance(100)
    }
    await remote.runtime.advance(100)
    expect(await reads).toHaveLength(BURST)
    expect(remote.count('read')).toBe(BURST)
  })

  it('counts for no time-out while steps wait for their turn', async () => {
    const { remote, cache, away } = setUp()
    Object.assign(remote.delays, { read: 200, acquire: 200, commit: 200 })
    const calls = Promise.all(keys.map((key) => cache.lookup(key, () => key)))
    await remote.runtime.advance(4000)
    expect(new Set((await calls).map(({ outcome }) => outcome?.kind))).toEqual(new Set(['committed']))
    expect(away).toEqual([])
  })

  it('that a frozen store does not answer is refused with the first time-outs', async () => {
    const { remote, cache } = setUp()
    remote.freeze(true)
    const reads = Promise.all(keys.map((key) => cache.get(key)))
    await remote.runtime.advance(320)
    expect(await reads).toHaveLength(BURST)
    expect(remote.count('read')).toBeLessThan(2 * MOST_IN_FLIGHT)
    expect(remote.runtime.pendingTimers).toBeLessThanOrEqual(1)
  })

  it('goes on without the store for those whose turn does not come within waitTimeout', async () => {
    const { remote, cache, away } = setUp({ waitTimeout: '300ms' })
    remote.delays.read = 200
    const reads = Promise.all(keys.map((key) => cache.get(key)))
    await remote.runtime.advance(800)
    expect(await reads).toHaveLength(BURST)
    expect(new Set(away)).toEqual(new Set(['read: The step waited for its turn for more than 300 ms']))
    expect(away).toHaveLength(BURST - 2 * MOST_IN_FLIGHT)
  })

  it('delays the end of a lease least of all', async () => {
    const { remote, cache } = setUp()
    const origin = new Origin()
    const call = cache.lookup('leading', origin.loader)
    await remote.runtime.advance(1)
    remote.delays.read = 100
    const reads = Promise.all(keys.map((key) => cache.get(key)))
    origin.last.resolve('value')
    await remote.runtime.advance(100)
    expect(await call).toMatchObject({ outcome: { kind: 'committed' } })
    expect(remote.count('read')).toBeLessThan(BURST)
    await remote.runtime.advance(400)
    expect(await reads).toHaveLength(BURST)
  })

  it('that is refused leaves no lease behind', async () => {
    const { remote, cache } = setUp()
    const origin = new Origin()
    const call = cache.lookup('leading', origin.loader)
    await remote.runtime.advance(1)
    remote.delays.read = Infinity
    remote.delays.ping = Infinity
    const reads = Promise.all(keys.map((key) => cache.get(key)))
    origin.last.resolve('value')
    await remote.runtime.advance(320)
    expect(await reads).toHaveLength(BURST)
    expect(await call).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    const request = { duration: 1000, seen: '', wake: false, tags: false }
    expect(await remote.memory.acquire('leading', request)).toMatchObject({ kind: 'lead' })
  })
})
