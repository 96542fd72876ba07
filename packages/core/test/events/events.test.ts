import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Cache, type CacheEvent, createCache, type EventName, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { Events } from '../../src/events/events.ts'

let runtime: ManualRuntime
let cache: Cache

const broken = new Error('The listener is broken')
const fail = (): never => {
  throw broken
}

beforeEach(() => {
  runtime = createManualRuntime()
  runtime.setRandom([0])
  cache = createCache({ runtime, ttl: '10s', staleWhileRevalidate: '10s', lease: { duration: '3s' } })
})

afterEach(() => {
  jest.restoreAllMocks()
})

/** Everything that a cache does by itself: miss, lead, load, renew, commit, hit, stale hit, failure, cooling, refusal, invalidation. */
async function tour(): Promise<void> {
  const slow = cache.getOrSet('k', () => new Promise((resolve) => runtime.schedule(() => resolve('one'), 2000)))
  const joined = cache.getOrSet('k', fail)
  await runtime.advance(2000)
  expect(await Promise.all([slow, joined])).toEqual(['one', 'one'])
  expect(await cache.getOrSet('k', fail)).toBe('one')
  await runtime.advance(10_000)
  expect(await cache.getOrSet('k', () => 'two')).toBe('one')
  await runtime.advance(0)
  await expect(cache.getOrSet('bad', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(cache.getOrSet('bad', () => 'three')).rejects.toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED' })
  await cache.getOrSet('gone', () => cache.delete('gone'))
  await cache.set('k', 'four')
  await cache.expire('k')
}

const toured: readonly EventName[] = [
  ...(['miss', 'lead', 'load', 'join', 'renew', 'commit', 'outcome', 'hit'] as const),
  ...(['load-failed', 'cooling', 'refused', 'invalidate'] as const),
]

describe('a listener', () => {
  it('receives every event of its name, and none after it was removed', async () => {
    const commits: CacheEvent<'commit'>[] = []
    const off = cache.on('commit', (event) => commits.push(event))
    await cache.getOrSet('a', () => 1)
    await cache.getOrSet('b', () => 2, { ttl: '1s' })
    await runtime.advance(0)
    off()
    off()
    await cache.getOrSet('c', () => 3)
    await runtime.advance(0)
    const [first = 0, second = 0] = commits.map(({ flight }) => flight)
    const [lease, other] = commits.map((commit) => commit.lease)
    expect(lease).not.toBe(other)
    expect(second).toBeGreaterThan(first)
    expect(commits).toEqual([
      { type: 'commit', cache: 'default', key: 'a', flight: first, lease, tags: [], ttl: 10_000, took: 0 },
      { type: 'commit', cache: 'default', key: 'b', flight: second, lease: other, tags: [], ttl: 1000, took: 0 },
    ])
  })

  it('that is added twice is called twice, and removed one at a time', async () => {
    const listener = jest.fn()
    const off = cache.on('invalidate', listener)
    cache.on('invalidate', listener)
    await cache.delete('k')
    expect(listener).toHaveBeenCalledTimes(2)
    off()
    await cache.delete('k')
    expect(listener).toHaveBeenCalledTimes(3)
  })

  it('receives the events of its own cache only', async () => {
    const listener = jest.fn()
    createCache({ runtime, ttl: '1s' }).on('invalidate', listener)
    await cache.delete('k')
    expect(listener).not.toHaveBeenCalled()
  })

  it('that throws fails no call, of any kind, and keeps no other listener from the event', async () => {
    const told = new Set<EventName>()
    const failed: string[] = []
    for (const name of toured) {
      cache.on(name, fail)
      cache.on(name, () => told.add(name))
    }
    cache.on('observer-failed', ({ event, error }) => {
      expect(error).toBe(broken)
      failed.push(event)
    })
    await tour()
    expect([...told].toSorted()).toEqual([...toured].toSorted())
    expect(new Set(failed)).toEqual(told)
  })

  it('of `observer-failed` that throws causes no further event', async () => {
    const listener = jest.fn(fail)
    cache.on('observer-failed', listener)
    cache.on('invalidate', fail)
    await cache.delete('k')
    expect(listener).toHaveBeenCalledTimes(1)
  })

  it('that is async and rejects is a failed listener too, and no unhandled rejection', async () => {
    const failed = jest.fn()
    cache.on('observer-failed', failed)
    const rejected = Promise.reject(broken)
    // Handled here as well, so that a red test is this test's and does not end the run.
    rejected.catch(() => {})
    const listener = (): unknown => rejected
    cache.on('invalidate', listener)
    await cache.delete('k')
    await runtime.advance(0)
    expect(failed).toHaveBeenCalledWith({
      type: 'observer-failed',
      cache: 'default',
      event: 'invalidate',
      error: broken,
    })
  })

  it('that rejects with a promise of another realm is a failed listener too', async () => {
    const failed = jest.fn()
    cache.on('observer-failed', failed)
    cache.on('invalidate', runInNewContext('async () => { throw 7 }') as () => unknown)
    await cache.delete('k')
    await runtime.advance(0)
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ event: 'invalidate', error: 7 }))
  })
})

describe('the diagnostics channel', () => {
  const subscriptions: [string, (message: unknown) => void][] = []
  const hear = (name: EventName): jest.Mock<(message: unknown) => void> => {
    const subscriber = jest.fn<(message: unknown) => void>()
    const listener = (message: unknown): void => subscriber(message)
    subscribe(`cattlegrid:${name}`, listener)
    subscriptions.push([`cattlegrid:${name}`, listener])
    return subscriber
  }
  afterEach(() => {
    for (const [name, listener] of subscriptions.splice(0)) unsubscribe(name, listener)
  })

  it('gets the very object that the listeners get', async () => {
    const subscriber = hear('invalidate')
    const listener = jest.fn()
    cache.on('invalidate', listener)
    await cache.delete('k')
    expect(subscriber).toHaveBeenCalledWith({ type: 'invalidate', cache: 'default', key: 'k', tags: [], how: 'delete' })
    expect(subscriber.mock.calls[0]?.[0]).toBe(listener.mock.calls[0]?.[0])
  })

  it('receives events when the cache has no listener', async () => {
    const subscriber = hear('hit')
    await cache.set('k', 1)
    await cache.getOrSet('k', fail)
    await cache.get('k')
    expect(subscriber).toHaveBeenCalledWith(
      expect.objectContaining({ type: 'hit', cache: 'default', key: 'k', status: 'fresh', from: 'store', age: 0 }),
    )
  })

  it('receives events although a listener throws', async () => {
    const subscriber = hear('invalidate')
    cache.on('invalidate', fail)
    await cache.delete('k')
    expect(subscriber).toHaveBeenCalledTimes(1)
  })
})

describe('an event', () => {
  it('is not built when nobody listens', async () => {
    const emit = jest.spyOn(Events.prototype, 'emit')
    await tour()
    expect(emit).not.toHaveBeenCalled()
  })

  it('is not built for listeners of another event', async () => {
    cache.on('warning', fail)
    const emit = jest.spyOn(Events.prototype, 'emit')
    await tour()
    expect(emit).not.toHaveBeenCalled()
  })

  it('is not built any more once the last listener was taken off', async () => {
    const offs = toured.map((name) => cache.on(name, () => {}))
    for (const off of offs) off()
    const emit = jest.spyOn(Events.prototype, 'emit')
    await tour()
    expect(emit).not.toHaveBeenCalled()
  })

  it('is emitted after the step that it reports, so that a listener that calls the cache sees its effect', async () => {
    const seen: unknown[] = []
    const store = memoryStore({ runtime })
    cache = createCache({ store, runtime, ttl: '10s' })
    cache.on('commit', ({ key }) => void cache.get(key).then((value) => seen.push(value)))
    cache.on('invalidate', ({ key }) => void cache.get(key).then((value) => seen.push(value)))
    await cache.lookup('k', () => 'committed')
    await runtime.advance(0)
    await cache.delete('k')
    await runtime.advance(0)
    expect(seen).toEqual(['committed', undefined])
  })
})

describe('an unknown event', () => {
  it('is refused with the names of all events, and so is a listener that is no function', () => {
    expect(() => cache.on('comitted' as never, () => undefined)).toThrow(/'on'.*commit/)
    expect(() => cache.on('commit', undefined as never)).toThrow(/'on.commit'/)
  })
})
