import { describe, expect, it } from '@jest/globals'
import type { Cache, CacheOptions } from '@cattlegrid/core'
import { Origin } from '../../support/fleet.ts'
import { Remote } from '../../support/remote.ts'

const BURST = 2000
const FIRST_IN_FLIGHT = 32
const MOST_IN_FLIGHT = 512

interface Setup {
  readonly remote: Remote
  readonly cache: Cache
  /** The reasons why the store was away. */
  readonly away: readonly string[]
}

function setUp(options: CacheOptions = {}): Setup {
  const remote = new Remote()
  const cache = remote.join({ maxWaiters: BURST, maxLoads: false, ...options })
  const away: string[] = []
  cache.on('away', ({ step, error }) => void away.push(`${step}: ${(error as Error).message}`))
  return { remote, cache, away }
}

const keys = Array.from({ length: BURST }, (_, index) => `k${index}`)

describe('a burst of steps', () => {
  it.each([10, 100, 200])(
    'is sent a part at a time, and the parts grow while answers come as soon as the first, after %d ms',
    async (delay) => {
      const { remote, cache } = setUp()
      remote.delays.read = delay
      const reads = Promise.all(keys.map((key) => cache.get(key)))
      let sent = 0
      for (const part of [32, 32, 64, 128, 256, 512, 512]) {
        sent += part
        await remote.runtime.advance(0)
        expect(remote.count('read')).toBe(sent)
        await remote.runtime.advance(delay)
      }
      await remote.runtime.advance(delay)
      expect(await reads).toHaveLength(BURST)
      expect(remote.count('read')).toBe(BURST)
    },
  )

  it('begins with a small part again after the last one: its answers may be larger', async () => {
    const { remote, cache } = setUp()
    remote.delays.read = 10
    const first = Promise.all(keys.map((key) => cache.get(key)))
    await remote.runtime.advance(100)
    await first
    remote.perRead = 10
    const second = Promise.all(keys.slice(0, 100).map((key) => cache.get(key)))
    await remote.runtime.advance(0)
    expect(remote.count('read')).toBe(BURST + FIRST_IN_FLIGHT)
    await remote.runtime.advance(2000)
    await second
  })

  it.each([
    [64, 64],
    [500, 128],
  ])(
    'of %d callers, which ask again with each answer, is sent %d steps at once from the second on, or one less',
    async (callers, sent) => {
      const { remote, cache } = setUp()
      remote.delays.read = 3
      const sentAtOnce: number[] = []
      for (let round = 0; round < 40; round += 1) {
        const asked = remote.count('read')
        const reads = Promise.all(keys.slice(0, callers).map((key) => cache.get(key)))
        await remote.runtime.advance(0)
        sentAtOnce.push(remote.count('read') - asked)
        while (remote.count('read') - asked < callers) await remote.runtime.advance(3)
        await remote.runtime.advance(3)
        await reads
      }
      expect(sentAtOnce[0]).toBe(FIRST_IN_FLIGHT)
      expect(Math.min(...sentAtOnce.slice(1))).toBeGreaterThanOrEqual(sent - 1)
    },
  )

  it('is not expected while a few steps are always in flight: then its first part shrinks step by step', async () => {
    const { remote, cache } = setUp()
    remote.delays.read = 10
    const first = Promise.all(keys.map((key) => cache.get(key)))
    await remote.runtime.advance(65)
    for (let round = 0; round < 700; round += 1) {
      void cache.get(`steady ${round}`)
      await remote.runtime.advance(5)
    }
    await first
    const asked = remote.count('read')
    const second = Promise.all(keys.map((key) => cache.get(key)))
    expect(remote.count('read') - asked).toBeLessThanOrEqual(FIRST_IN_FLIGHT)
    await remote.runtime.advance(1000)
    await second
  })

  it('grows again when the store has become slower for all', async () => {
    const { remote, cache } = setUp()
    const first = Promise.all(keys.map((key) => cache.get(key)))
    await remote.runtime.advance(0)
    await first
    remote.delays.read = 150
    const second = Promise.all(keys.map((key) => cache.get(key)))
    await remote.runtime.advance(8 * 150)
    expect(remote.count('read')).toBe(2 * BURST)
    await second
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
    expect(away).toHaveLength(BURST - 2 * FIRST_IN_FLIGHT)
  })

  it('delays the end of a lease least of all', async () => {
    const { remote, cache } = setUp()
    const origin = new Origin()
    const call = cache.lookup('leading', origin.loader)
    await remote.runtime.advance(1)
    Object.assign(remote.delays, { read: 100, commit: 100 })
    const reads = Promise.all(keys.map((key) => cache.get(key)))
    origin.last.resolve('value')
    await remote.runtime.advance(200)
    expect(await call).toMatchObject({ outcome: { kind: 'committed' } })
    expect(remote.count('read')).toBeLessThan(BURST)
    await remote.runtime.advance(700)
    expect(await reads).toHaveLength(BURST)
  })

  it('of commits that takes longer than the leases, and than waitTimeout, stores them all: renewals come first', async () => {
    const { remote, cache, away } = setUp({ waitTimeout: '300ms', lease: { duration: '300ms' } })
    remote.delays.commit = 200
    const outcomes: string[] = []
    cache.on('outcome', ({ outcome }) => void outcomes.push(outcome.kind))
    const batch = cache.getOrSetMany(keys, (missing) => new Map(missing.map((key) => [key, key])))
    await remote.runtime.advance(700)
    expect(remote.count('commit')).toBeLessThan(BURST)
    const request = { duration: 1000, seen: '', wake: false }
    expect(await remote.memory.acquire(keys.at(-1) ?? '', request)).toMatchObject({ kind: 'held' })
    await remote.runtime.advance(2000)
    expect((await batch).size).toBe(BURST)
    expect([outcomes.length, new Set(outcomes), away]).toEqual([BURST, new Set(['committed']), []])
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
    const request = { duration: 1000, seen: '', wake: false }
    expect(await remote.memory.acquire('leading', request)).toMatchObject({ kind: 'lead' })
  })
})

describe('a burst of large values, which arrive one after the other', () => {
  /** `perRead`, ms: 1 for values of about 100 KB, 4 for half a megabyte. */
  async function stored(options?: CacheOptions, perRead = 1): Promise<Setup & { readonly large: readonly string[] }> {
    const setup = setUp({ waitTimeout: '1m', ...options })
    const large = keys.slice(0, 1000)
    await Promise.all(large.map((key) => setup.cache.set(key, key, { ttl: '1h' })))
    await setup.remote.runtime.advance(2)
    setup.remote.perRead = perRead
    return { ...setup, large }
  }

  it.each([1, 2, 4])(
    'is read as a whole by getMany, although one time-out is too short for all, at %d ms a value',
    async (perRead) => {
      const { remote, cache, away, large } = await stored({}, perRead)
      const many = cache.getMany(large)
      await remote.runtime.advance(1000 * perRead + 100)
      expect([(await many).size, away]).toEqual([1000, []])
    },
  )

  it('too large even for its first part loses no more than that part', async () => {
    const { remote, cache, large } = await stored({}, 10)
    const many = cache.getMany(large.slice(0, 200))
    await remote.runtime.advance(4000)
    expect((await many).size).toBeGreaterThanOrEqual(200 - FIRST_IN_FLIGHT)
  })

  it('is read as a whole by getOrSetMany, which calls no loader', async () => {
    const { remote, cache, away, large } = await stored()
    const missed: string[] = []
    const many = cache.getOrSetMany(large, (missing) => {
      missed.push(...missing)
      return new Map()
    })
    await remote.runtime.advance(1000)
    expect([(await many).size, missed, away]).toEqual([1000, [], []])
  })

  it('leaves room for a call that comes in its middle', async () => {
    const { remote, cache, large } = await stored()
    const many = cache.getMany(large.slice(1))
    await remote.runtime.advance(500)
    const one = cache.lookup('k0', () => 'loaded')
    await remote.runtime.advance(600)
    expect(await one).toMatchObject({ value: 'k0', from: 'store' })
    await many
  })

  it('is reported where its patience ends, also without outage copies', async () => {
    const { remote, cache, away, large } = await stored({ waitTimeout: '300ms', outage: false })
    const many = cache.getMany(large)
    await remote.runtime.advance(1000)
    const { size } = await many
    expect(away).toHaveLength(1000 - size)
    expect(new Set(away)).toEqual(new Set(['read: The step waited for its turn for more than 300 ms']))
  })
})
