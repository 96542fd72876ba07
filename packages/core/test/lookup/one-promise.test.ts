import { AsyncLocalStorage } from 'node:async_hooks'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { makeEntry } from '@cattlegrid/core/extend'
import { memoryCache, never } from '../support/memory-cache.ts'

let cache: Cache

beforeEach(() => {
  ;({ cache } = memoryCache())
})

describe('the promise of a hit', () => {
  it('keeps no async context of the first request', async () => {
    await cache.set('k', 'value')
    const requests = new AsyncLocalStorage<object>()
    const request = { user: 'the first to ask' }
    const hit = requests.run(request, () => cache.getOrSet('k', never))
    expect(await hit).toBe('value')
    expect(Reflect.ownKeys(hit).map((name) => Reflect.get(hit, name) as unknown)).not.toContain(request)
    requests.disable()
  })

  it('keeps the async context of every caller', async () => {
    await cache.set('k', 'value')
    const requests = new AsyncLocalStorage<string>()
    const ask = async (): Promise<unknown[]> => [await cache.getOrSet('k', never), requests.getStore()]
    const seen = await Promise.all(['one', 'other'].map((name) => requests.run(name, ask)))
    expect(seen).toEqual([
      ['value', 'one'],
      ['value', 'other'],
    ])
    requests.disable()
  })

  it('comes also from an entry that its store has frozen', async () => {
    const store = memoryStore()
    const peek = store.peek.bind(store)
    store.peek = (...asked) => {
      const entry = peek(...asked)
      return entry && Object.freeze(makeEntry(entry, entry, entry.from))
    }
    const cold = createCache({ store, ttl: '1m' })
    await cold.set('k', 1)
    expect(await cold.getOrSet('k', never)).toBe(1)
  })
})
