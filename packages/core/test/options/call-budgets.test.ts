import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Store } from '@cattlegrid/core'
import type { Acquire } from '@cattlegrid/core/extend'
import { createCache } from '@cattlegrid/core'
import { Origin, rejection } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

let remote: Remote

beforeEach(() => {
  remote = new Remote()
})

/** How long a call took. */
async function timeOf(call: Promise<unknown>): Promise<number> {
  const { runtime } = remote
  const began = runtime.now()
  const end = { at: Infinity }
  void call.finally(() => (end.at = runtime.now())).catch(() => undefined)
  for (let step = 0; step < 1000 && end.at === Infinity; step += 1) await runtime.advance(10)
  return end.at - began
}

/** A store that answers each acquire so, after 100 ms. */
function answering(answer: Acquire): Store {
  Object.assign(remote.delays, { read: 100, acquire: 100 })
  return {
    ...remote.view(),
    acquire: async () => {
      await new Promise<void>((resolve) => void remote.runtime.schedule(resolve, 100))
      return answer
    },
  }
}

describe('the storeTimeout of a call', () => {
  it('holds for all steps together that it takes without a wait, such as after `changed`', async () => {
    const store = answering({ kind: 'changed' })
    const cache = createCache({ store, runtime: remote.runtime, ttl: '1m', storeTimeout: '250ms' })
    const call = cache.getOrSet('k', () => 'alone')
    expect(await timeOf(call)).toBeLessThanOrEqual(310)
    expect(await call).toBe('alone')
  })
})

describe('the waitTimeout of a call', () => {
  it('counts the answers of the store', async () => {
    const store = answering({ kind: 'held', remaining: 1 })
    const options = { ttl: '1m', storeTimeout: '250ms', waitTimeout: '300ms' } as const
    const cache = createCache({ store, runtime: remote.runtime, ...options })
    const call = rejection(cache.getOrSet('k', never))
    expect(await timeOf(call)).toBeLessThanOrEqual(300 + 250)
    expect(await call).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
  })

  it('counts the answer to its first read', async () => {
    const origin = new Origin()
    void remote.join().getOrSet('k', origin.loader)
    await remote.runtime.advance(1)
    const cache = remote.join({ waitTimeout: '300ms' })
    remote.delays.read = 200
    const call = rejection(cache.getOrSet('k', never))
    expect(await timeOf(call)).toBe(300)
    expect(await call).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
  })

  it('does not count a load that it joined, and whose value is not for it', async () => {
    const cache = remote.join({ waitTimeout: '1s', maxLoads: 1 })
    const origin = new Origin()
    void cache.getOrSet('k', origin.loader)
    await remote.runtime.advance(1)
    const joined = cache.getOrSet('k', () => 'own')
    await remote.runtime.advance(5000)
    origin.last.load.uncacheable({ share: false })
    await remote.runtime.advance(500)
    origin.last.resolve('theirs')
    await remote.runtime.advance(10)
    expect(await joined).toBe('own')
  })

  it('counts loads of others that brought nothing, however often the call is elected anew', async () => {
    const cache = remote.join({ waitTimeout: '1s' })
    const origin = new Origin()
    const lead = (): void => void cache.getOrSet('k', origin.loader).catch(() => undefined)
    lead()
    await remote.runtime.advance(1)
    const starved = rejection(cache.getOrSet('k', never))
    const state = { over: false }
    void starved.then(() => (state.over = true))
    for (let round = 0; round < 10 && !state.over; round += 1) {
      await remote.runtime.advance(300)
      remote.muted = true
      // The commit is refused, and a new load runs before the starved call reads again.
      await remote.memory.invalidate('k', 'delete', 0)
      remote.muted = false
      const { last } = origin
      lead()
      last.resolve('refused')
      await remote.runtime.advance(0)
    }
    expect(await starved).toMatchObject({ code: 'CATTLEGRID_WAIT_TIMEOUT' })
  })

  it('does not run during a load of this process that brings the value', async () => {
    const cache = remote.join({ waitTimeout: '1s' })
    const origin = new Origin()
    const calls = [cache.getOrSet('k', origin.loader), cache.getOrSet('k', never)]
    await remote.runtime.advance(20_000)
    origin.last.resolve('slow')
    expect(await Promise.all(calls)).toEqual(['slow', 'slow'])
  })
})
