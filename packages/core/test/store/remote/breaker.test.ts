import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { rejection } from '../../support/fleet.ts'
import { Remote } from '../../support/remote.ts'

let remote: Remote
let cache: Cache
let states: string[]

beforeEach(async () => {
  remote = new Remote()
  cache = remote.join({ outage: false, maxLoads: false })
  states = []
  cache.on('breaker', ({ state }) => void states.push(state))
  await cache.set('k', 'kept')
})

/** So many calls at once, each of which waits for the store in vain. */
async function miss(calls: number): Promise<void> {
  const gets = Promise.all(Array.from({ length: calls }, (_, index) => cache.get(`silent ${index}`)))
  await remote.runtime.advance(300)
  await gets
}

describe('a store that does not answer five steps in a row', () => {
  it('is sent no further step, and every call is answered at once', async () => {
    remote.freeze(true)
    await miss(5)
    expect(states).toEqual(['open'])
    const asked = remote.count('read')
    const began = remote.runtime.now()
    expect(await cache.getOrSet('k', () => 'alone')).toBe('alone')
    expect(await rejection(cache.delete('k'))).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    expect([remote.runtime.now(), remote.count('read'), remote.count('invalidate')]).toEqual([began, asked, 0])
  })

  it('is pinged from time to time, by the breaker alone', async () => {
    remote.freeze(true)
    await miss(5)
    const asked = remote.count('read')
    await remote.runtime.advance(5000)
    expect(remote.count('ping')).toBeGreaterThanOrEqual(4)
    expect(remote.count('ping')).toBeLessThanOrEqual(10)
    expect(remote.count('read')).toBe(asked)
  })

  it('is used again after the first ping that it answers', async () => {
    remote.freeze(true)
    await miss(5)
    remote.freeze(false)
    await remote.runtime.advance(1300)
    expect(states).toEqual(['open', 'closed'])
    expect(await cache.get('k')).toBe('kept')
  })

  it('is not used while its answers to pings are late', async () => {
    remote.freeze(true)
    await miss(5)
    remote.freeze(false)
    remote.delays.ping = 400
    await remote.runtime.advance(5000)
    expect(states).toEqual(['open'])
    delete remote.delays.ping
    await remote.runtime.advance(1300)
    expect(states).toEqual(['open', 'closed'])
  })

  it('is pinged less often the more pings have no answer', async () => {
    remote.freeze(true)
    await miss(5)
    await remote.runtime.advance(3_600_000)
    expect(remote.count('ping')).toBeLessThan(400)
  })

  it('is pinged at once when notices arrive again', async () => {
    remote.freeze(true)
    await miss(5)
    remote.freeze(false)
    remote.tell({ kind: 'connected' })
    await remote.runtime.advance(0)
    expect(states).toEqual(['open', 'closed'])
  })

  it('empties the near cache, whose copies no notice would correct', async () => {
    cache = remote.join({ near: {} })
    await cache.get('k')
    await cache.get('k')
    expect(await cache.lookup('k', () => 'new')).toMatchObject({ from: 'near' })
    remote.freeze(true)
    await miss(5)
    expect(await cache.lookup('k', () => 'new')).toMatchObject({ from: 'outage' })
  })
})

describe('the breaker stays closed', () => {
  it('where an answer comes between the time-outs', async () => {
    remote.delays.read = Infinity
    await miss(4)
    await cache.set('k', 'new')
    await miss(4)
    expect(states).toEqual([])
  })

  it('where the store answers with errors', async () => {
    remote.refuses = new Error('OOM')
    await Promise.all(Array.from({ length: 20 }, (_, index) => cache.get(`k${index}`)))
    expect(states).toEqual([])
  })

  it('where any step was answered within the last storeTimeout: only a part of the store may be away', async () => {
    remote.delays.read = Infinity
    const gets = Promise.all(Array.from({ length: 20 }, (_, index) => cache.get(`silent ${index}`)))
    await remote.runtime.advance(200)
    await cache.set('k', 'new')
    await remote.runtime.advance(100)
    await gets
    expect(states).toEqual([])
  })

  it('where a step timed out after only the rest of its call’s time', async () => {
    Object.assign(remote.delays, { read: 200, acquire: 200 })
    const calls = Promise.all(Array.from({ length: 20 }, (_, index) => cache.getOrSet(`k${index}`, () => 'alone')))
    await remote.runtime.advance(320)
    expect(new Set(await calls)).toEqual(new Set(['alone']))
    expect(states).toEqual([])
  })
})

describe('the time of a call for its store', () => {
  it('is storeTimeout for all of its steps together', async () => {
    Object.assign(remote.delays, { read: 200, acquire: 200 })
    const call = cache.getOrSet('cold', () => 'alone')
    await remote.runtime.advance(300)
    expect(await Promise.race([call, Promise.resolve('waits')])).toBe('alone')
  })

  it('is storeTimeout for a read and the numbers of its tags together', async () => {
    await cache.set('tagged', 'kept', { tags: ['t'] })
    Object.assign(remote.delays, { read: 200, tagNumbers: 200 })
    const call = cache.getOrSet('tagged', () => 'alone')
    await remote.runtime.advance(300)
    expect(await Promise.race([call, Promise.resolve('waits')])).toBe('alone')
  })

  it('is over with the first deadline: an acquire is not sent after it', async () => {
    remote.delays.read = Infinity
    const call = remote.join().getOrSet('cold', () => 'alone')
    await remote.runtime.advance(300)
    expect([await call, remote.count('acquire')]).toEqual(['alone', 0])
  })
})

describe('a closed cache', () => {
  it('sends no more pings', async () => {
    remote.freeze(true)
    await miss(5)
    await cache.close()
    const asked = remote.count('ping')
    await remote.runtime.advance(10_000)
    expect(remote.count('ping')).toBe(asked)
    expect(remote.runtime.pendingTimers).toBe(0)
  })
})
