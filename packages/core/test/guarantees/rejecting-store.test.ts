import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createCache, memoryStore, type Store } from '@cattlegrid/core'
import type { Runtime } from '@cattlegrid/core/extend'
import { createManualRuntime } from '@cattlegrid/testkit'

const broken = new Error('not written with care')

/** A store that others share, in which one step goes wrong in a way that no store's should. */
function storeWith(wrong: Partial<Store>): Store {
  return Object.assign(memoryStore(), { shared: true, peek: () => undefined }, wrong)
}

describe('a store that does not answer', () => {
  const requests = new AsyncLocalStorage<string>()
  const runtime = createManualRuntime()
  /** The requests in whose contexts timers were set. */
  const setIn: unknown[] = []
  const watched: Runtime = {
    ...runtime,
    schedule: (action, delay) => {
      setIn.push(requests.getStore())
      return runtime.schedule(action, delay)
    },
  }
  const heard: unknown[] = []

  beforeAll(async () => {
    const silent = (): Promise<never> => new Promise(() => {})
    const store = storeWith({ read: silent, acquire: silent, ping: silent })
    const cache = createCache({ store, runtime: watched, ttl: '1m', storeTimeout: '250ms', outage: false })
    const outage = createCache({ store, runtime, ttl: '1m', storeTimeout: '250ms' })
    outage.on('away', ({ key, step }) => step === 'read' && heard.push([key, requests.getStore()]))
    const keys = ['a', 'b', 'c', 'd', 'e', 'f']
    const asked = keys.flatMap((key) => requests.run(key, () => [cache.get(key), outage.get(key)]))
    await runtime.advance(5000)
    await Promise.all(asked)
  })
  afterAll(() => requests.disable())

  it('is reported as away in the async context of its call, although one timer ends all waits', () => {
    expect(heard).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => [key, key]))
  })

  it('is timed and pinged by timers that keep no request’s async context', () => {
    expect(setIn.length).toBeGreaterThan(10)
    expect(new Set(setIn)).toEqual(new Set([undefined]))
  })
})

describe('a store', () => {
  it.each<[string, Partial<Store>]>([
    ['whose read rejects', { read: () => Promise.reject(broken) }],
    [
      'whose read throws',
      {
        read: () => {
          throw broken
        },
      },
    ],
    ['that rejects the question for a tag’s number', { tagNumbers: () => Promise.reject(broken) }],
    ['that reads nothing at all', { read: () => Promise.resolve(undefined as never) }],
    ['whose entry has no tags', { read: () => Promise.resolve({ kind: 'found', entry: {} as never }) }],
    ['that has no numbers', { tagNumbers: () => Promise.resolve({ kind: 'numbers' } as never) }],
  ])('%s is away: its callers load', async (_, wrong) => {
    const cache = createCache({ store: storeWith(wrong), ttl: '1m' })
    const causes: unknown[] = []
    cache.on('away', ({ step, error }) => step === 'read' && causes.push(error))
    await cache.set('k', 'kept', { tags: ['t'] })
    expect(await cache.getOrSet('k', () => 'loaded')).toBe('loaded')
    expect(causes).toHaveLength(1)
    expect(String(causes[0])).not.toContain('did not answer within')
    await cache.close()
  })

  it('that answers nothing to an acquire is away: its callers load', async () => {
    const cache = createCache({ store: storeWith({ acquire: () => Promise.resolve(undefined as never) }), ttl: '1m' })
    expect(await cache.getOrSet('cold', () => 'loaded')).toBe('loaded')
    await cache.close()
  })
})
