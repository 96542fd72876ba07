import { describe, expect, it } from '@jest/globals'
import type { CallerSignal } from '../../src/load.ts'
import { createFleet, holdBack, Origin, rejection, settle, trace } from '../support/fleet.ts'

describe('flights of one process', () => {
  it('share one load among all callers of a cold key', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const calls = Promise.all(Array.from({ length: 50 }, () => cache.getOrSet('k', origin.loader)))
    await settle(fleet)
    origin.last.resolve('value')
    expect(new Set(await calls)).toEqual(new Set(['value']))
    expect(origin.count).toBe(1)
  })

  it('give the callers of a flight the very object that the loader returned', async () => {
    const [cache] = createFleet().caches
    const value = { stock: 3 }
    expect(await cache.getOrSet('k', () => value)).toBe(value)
  })

  it('read the store once for many callers of one key', async () => {
    const fleet = createFleet()
    let reads = 0
    const { read } = fleet.store
    fleet.store.peek = () => undefined
    fleet.store.read = (...args) => {
      reads += 1
      return read.apply(fleet.store, args)
    }
    const [cache] = fleet.caches
    await cache.set('k', 1)
    await Promise.all(Array.from({ length: 64 }, () => cache.getOrSet('k', () => 2)))
    expect(reads).toBe(1)
  })

  it('answer a hit from memory without reading the store', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.set('k', 'kept')
    fleet.store.read = () => Promise.reject(new Error('read'))
    expect(await cache.getOrSet('k', () => 'loaded')).toBe('kept')
  })

  it('accept no joiner once the commit is sent: a later call reads the committed value', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const commit = fleet.store.commit.bind(fleet.store)
    let letGo = (): void => {}
    fleet.store.commit = async (...args) => {
      await new Promise<void>((resolve) => (letGo = resolve))
      return commit(...args)
    }
    const first = cache.getOrSet('k', () => 'one')
    expect(await first).toBe('one')
    const events = trace(cache, 'join', 'follow')
    const second = cache.getOrSet('k', () => 'two')
    await settle(fleet)
    expect(events).toEqual(['follow'])
    letGo()
    await fleet.runtime.advance(1000)
    expect(await second).toBe('one')
  })

  it('end only the wait of a caller whose own signal aborts', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const leaving = new AbortController()
    const left = cache.getOrSet('k', origin.loader, { signal: leaving.signal })
    const stays = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(origin.last.load.signal.aborted).toBe(false)
    origin.last.resolve('value')
    expect(await stays).toBe('value')
  })

  it('accept a signal that is no AbortSignal, and remove the listener afterwards', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const listeners = new Set<() => void>()
    const signal: CallerSignal = {
      aborted: false,
      reason: new Error('gone'),
      throwIfAborted: () => undefined,
      addEventListener: (_, onAbort) => void listeners.add(onAbort),
      removeEventListener: (_, onAbort) => void listeners.delete(onAbort),
    }
    const left = cache.getOrSet('k', origin.loader, { signal })
    const stays = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    for (const onAbort of listeners) onAbort()
    await expect(left).rejects.toThrow('gone')
    expect(listeners.size).toBe(0)
    origin.last.resolve('value')
    expect(await stays).toBe('value')
  })
})

describe('a flight', () => {
  it('that was detached leaves the next flight of its key joinable when it ends', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const [old, next] = [new Origin(), new Origin()]
    const before = cache.getOrSet('k', old.loader)
    await settle(fleet)
    await cache.delete('k')
    const after = cache.getOrSet('k', next.loader)
    await settle(fleet)
    old.last.resolve('old')
    expect(await before).toBe('old')
    await settle(fleet)
    const events = trace(cache, 'join')
    const joined = cache.getOrSet('k', next.loader)
    await settle(fleet)
    expect(events).toEqual(['join'])
    next.last.resolve('new')
    expect(await Promise.all([after, joined])).toEqual(['new', 'new'])
    expect(next.count).toBe(1)
  })

  it('accepts no joiner once its result is unshareable', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    void cache.getOrSet('k', (load) => {
      load.uncacheable({ share: false })
      return new Promise<string>(() => {})
    })
    await settle(fleet)
    const events = trace(cache, 'join')
    expect(await cache.getOrSet('k', () => 'mine')).toBe('mine')
    expect(events).toEqual([])
  })

  it('without the store accepts no joiner once it has its result', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store.read = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') })
    let later: Promise<string> | undefined
    cache.on('outcome', () => {
      later ??= cache.getOrSet('k', () => 'second')
    })
    expect(await cache.getOrSet('k', () => 'first')).toBe('first')
    expect(await later).toBe('second')
  })

  it('is not started for a call whose signal has aborted', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader, { signal: AbortSignal.abort(new Error('too late')) })
    expect(await rejection(call)).toMatchObject({ message: 'too late' })
    await settle(fleet)
    expect(origin.count).toBe(0)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('delivers the value to a late joiner after the commit, and not before', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const { commit } = fleet.store
    let letGo = (): void => {}
    fleet.store.commit = async (...args) => {
      await new Promise<void>((resolve) => (letGo = resolve))
      return commit.apply(fleet.store, args)
    }
    const origin = new Origin()
    const early = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    let answered = false
    const late = cache.lookup('k', origin.loader).finally(() => (answered = true))
    await settle(fleet)
    origin.last.resolve('value')
    expect(await early).toBe('value')
    await settle(fleet)
    expect(answered).toBe(false)
    letGo()
    expect(await late).toMatchObject({ value: 'value', status: 'loaded', role: 'follower' })
    expect(origin.count).toBe(1)
  })

  it('starts no load when its only caller left before the store answered', async () => {
    const fleet = createFleet()
    fleet.store.acquire = () => Promise.resolve({ kind: 'held-off', remaining: 1000 })
    const acquire = holdBack(fleet, 'acquire')
    const origin = new Origin()
    const leaving = new AbortController()
    const call = rejection(fleet.caches[0].getOrSet('k', origin.loader, { signal: leaving.signal }))
    await settle(fleet)
    leaving.abort(new Error('gone'))
    expect(await call).toMatchObject({ message: 'gone' })
    acquire.letGo()
    await settle(fleet)
    expect(origin.count).toBe(0)
  })
})

describe('a hit from memory', () => {
  it('reads only the coarse clock', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await cache.set('k', 'kept')
    let readings = 0
    const { now } = fleet.runtime
    fleet.runtime.now = () => {
      readings += 1
      return now()
    }
    expect(await cache.getOrSet('k', () => 'loaded')).toBe('kept')
    expect(readings).toBe(0)
  })
})
