import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { Origin, rejection } from '../../support/fleet.ts'
import { Remote } from '../../support/remote.ts'

let remote: Remote
let cache: Cache
/** The load of another process, which holds the lease. */
let led: Origin
let first: Promise<unknown>

beforeEach(async () => {
  remote = new Remote()
  led = new Origin()
  first = remote.join().getOrSet('k', led.loader)
  await remote.runtime.advance(1)
  cache = remote.join({ outage: false })
})

describe('a process without copies for an outage', () => {
  it('loads a key once when the store freezes, however many invalidations of tags have detached flights', async () => {
    const { runtime } = remote
    const here = new Origin()
    const calls: Promise<unknown>[] = []
    Object.assign(remote.delays, { read: 1, acquire: 1 })
    for (let round = 0; round < 20; round += 1) {
      calls.push(cache.getOrSet('k', here.loader))
      // The acquire of the call is under way.
      await runtime.advance(1)
      await cache.invalidateTags(['unrelated'])
      await runtime.advance(2)
    }
    remote.freeze(true)
    await runtime.advance(1500)
    expect(here.count).toBe(1)
    here.last.resolve('loaded alone')
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['loaded alone']))
    led.last.resolve('led')
    expect(await first).toBe('led')
  })

  it('has one flight that waits for a lease: the invalidation of a tag leaves it joinable', async () => {
    const { runtime } = remote
    let joined = 0
    cache.on('join', () => (joined += 1))
    const calls = [cache.getOrSet('k', () => 'never')]
    await runtime.advance(1)
    await cache.invalidateTags(['unrelated'])
    calls.push(cache.getOrSet('k', () => 'never'))
    await runtime.advance(1)
    expect(joined).toBe(1)
    led.last.resolve('led')
    expect(await first).toBe('led')
    await runtime.advance(500)
    expect(await Promise.all(calls)).toEqual(['led', 'led'])
  })

  it('calls a failing loader once per cooldown while the store is away', async () => {
    const { runtime } = remote
    const alone = remote.join({ outage: false, failureCooldown: { min: '1s', max: '1s' } })
    remote.refuses = new Error('gone')
    let loads = 0
    const failing = (): Promise<string> => {
      loads += 1
      return Promise.reject(new Error('down'))
    }
    for (let moment = 0; moment < 300; moment += 1) {
      await rejection(alone.getOrSet('other', failing))
      await runtime.advance(10)
    }
    expect(loads).toBe(3)
    led.last.resolve('led')
    await first
  })

  it('serves nothing that it loaded while the store was away to later calls', async () => {
    remote.refuses = new Error('gone')
    expect(await cache.getOrSet('other', () => 'one')).toBe('one')
    expect(await cache.get('other', { stale: true })).toBeUndefined()
    expect(await cache.getOrSet('other', () => 'two')).toBe('two')
    led.last.resolve('led')
    await first
  })
})
