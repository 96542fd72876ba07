import { beforeEach, describe, expect, it } from '@jest/globals'
import { createCache, json, memoryStore, type Store } from '@cattlegrid/core'
import { type NewEntry, NO_VERSION } from '@cattlegrid/core/extend'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

let runtime: ManualRuntime
let store: Store

beforeEach(() => {
  runtime = createManualRuntime()
  store = memoryStore({ runtime, maxEntries: 100_000 })
})

const entryOf = (ttl: number, windows: Partial<NewEntry> = {}): NewEntry => ({
  value: 'kept',
  ttl,
  staleWhileRevalidate: 0,
  staleIfError: 0,
  loadTime: 0,
  tags: [],
  ...windows,
})

const put = (key: string, ttl: number, windows?: Partial<NewEntry>): Promise<unknown> =>
  store.put(key, entryOf(ttl, windows), json)

/** The entries that the store holds, expired ones included: `peek` does not judge their windows. */
const held = (...keys: readonly string[]): string[] =>
  keys.filter((key) => store.peek(key, json, runtime.now()) !== undefined)

describe('a memory store', () => {
  it('removes an expired entry that nobody asks for, within seconds, and then sets no timer', async () => {
    await put('k', 10_000)
    await runtime.advance(9999)
    expect(held('k')).toEqual(['k'])
    await runtime.advance(2000)
    expect([held('k'), runtime.pendingTimers]).toEqual([[], 0])
  })

  it('keeps an entry to the end of its longer stale window', async () => {
    await put('k', 1000, { staleWhileRevalidate: 5000, staleIfError: 60_000 })
    await runtime.advance(60_000)
    expect(held('k')).toEqual(['k'])
    await runtime.advance(3000)
    expect(held('k')).toEqual([])
  })

  it('removes an entry that expires long before those that were written earlier', async () => {
    await put('long', 3_600_000)
    await put('short', 1000)
    await runtime.advance(3000)
    expect(held('long', 'short')).toEqual(['long'])
  })

  it('sets one timer, however many entries it has and however long they last', async () => {
    for (let key = 0; key < 100; key += 1) await put(String(key), 86_400_000 * (1 + (key % 7)))
    expect(runtime.pendingTimers).toBe(1)
    await runtime.advance(86_400_000 * 8)
    expect(runtime.pendingTimers).toBe(0)
  })

  it('visits a bounded number of entries at a time', async () => {
    const keys = Array.from({ length: 10_000 }, (_, key) => String(key))
    for (const key of keys) await put(key, 1000)
    const counts = [held(...keys).length]
    for (let step = 0; step < 11; step += 1) {
      await runtime.advance(1000)
      counts.push(held(...keys).length)
    }
    const removed = counts.slice(1).map((count, step) => (counts[step] ?? 0) - count)
    expect(Math.max(...removed)).toBeLessThanOrEqual(1000)
    expect(counts.at(-1)).toBe(0)
  })

  it('frees the tags of what it removes', async () => {
    await put('k', 1000, { tags: ['t'] })
    await runtime.advance(3000)
    await put('k', 1000, { tags: ['t'] })
    expect(held('k')).toEqual(['k'])
  })

  it('keeps the count of failures for as long as it counts, and a lease until its holder ends it', async () => {
    const ask = { duration: 1000, seen: NO_VERSION, wake: false }
    const failing = await store.acquire('failing', ask)
    const slow = await store.acquire('slow', ask)
    if (failing.kind !== 'lead' || slow.kind !== 'lead') throw new Error('not granted')
    const failure = { name: 'Error' }
    await store.release(failing.lease, { kind: 'failed', failure, cooldown: 100, attempts: 3 })
    await put('other', 1000)
    await runtime.advance(30_000)
    expect(await store.acquire('failing', ask)).toMatchObject({ kind: 'lead', lease: { attempts: 3 } })
    expect(await store.commit(slow.lease, entryOf(1000), json)).toMatchObject({ kind: 'stored' })
  })

  it('sets no timer once it is closed, nor while only one of its caches is', async () => {
    const [one, other] = [createCache({ store, runtime, ttl: '1m' }), createCache({ store, runtime, ttl: '1m' })]
    await one.set('k', 'kept')
    await one.close()
    expect(runtime.pendingTimers).toBe(1)
    await other.close()
    expect(runtime.pendingTimers).toBe(0)
  })
})

describe('the copies of a shared store', () => {
  it.each([
    ['near', { near: { maxAge: '5s' }, outage: false }],
    ['outage', { outage: { maxAge: '5s' } }],
  ] as const)('for %s are removed when they are too old, and when the cache closes', async (_, options) => {
    const remote = new Remote()
    const cache = remote.join({ ttl: '1h', ...options })
    await cache.set('k', 'kept')
    await cache.getOrSet('k', never)
    await remote.runtime.advance(3000)
    expect(remote.runtime.pendingTimers).toBe(1)
    await remote.runtime.advance(4000)
    expect(remote.runtime.pendingTimers).toBe(0)
    await cache.getOrSet('k', never)
    await remote.runtime.advance(1000)
    expect(remote.runtime.pendingTimers).toBe(1)
    await cache.close()
    expect(remote.runtime.pendingTimers).toBe(0)
  })
})
