import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { Origin } from '../support/fleet.ts'
import { Remote } from '../support/remote.ts'

describe('the share of a refresh that loads nothing', () => {
  const options = { refreshBudget: { perSecond: 1 }, outage: { maxAge: '1m' } } as const
  const open = async () => {
    const remote = new Remote()
    const cache = remote.join({ maxLoads: false, ...options })
    for (const key of ['a', 'b', 'c']) await cache.set(key, 'old', { ttl: '1s', staleWhileRevalidate: '1h' })
    await remote.runtime.advance(1001)
    const origin = new Origin()
    const hit = async (key: string): Promise<void> => {
      expect(await cache.getOrSet(key, origin.loader)).toBe('old')
      await remote.runtime.advance(0)
    }
    const holdLease = async (key: string): Promise<void> => {
      const read = await remote.memory.read(key, json)
      const seen = read.kind === 'found' ? read.entry.version : ''
      await remote.memory.acquire(key, { duration: 60_000, seen, wake: false })
    }
    return { remote, cache, origin, hit, holdLease }
  }

  it('is not given back to a store that did not grant it', async () => {
    const { remote, hit, holdLease } = await open()
    await holdLease('a')
    remote.refused = ['permitRefresh']
    remote.refuses = new Error('reset')
    await hit('a')
    expect([remote.count('permitRefresh'), remote.count('endRefresh')]).toEqual([1, 0])
  })

  it('is given back only once to a store that grants it late', async () => {
    const { remote, hit, holdLease } = await open()
    await holdLease('a')
    remote.delays.permitRefresh = 300
    await hit('a')
    await remote.runtime.advance(400)
    expect([remote.count('permitRefresh'), remote.count('endRefresh')]).toEqual([1, 1])
  })

  it('is not given back to the limit of this process when the store granted it', async () => {
    const { remote, origin, hit, holdLease } = await open()
    remote.refused = ['permitRefresh']
    remote.refuses = new Error('reset')
    await hit('a')
    remote.refuses = undefined
    await holdLease('b')
    await remote.runtime.advance(500)
    await hit('b')
    remote.refuses = new Error('reset')
    await hit('c')
    expect([remote.count('permitRefresh'), origin.count]).toEqual([3, 1])
  })
})
