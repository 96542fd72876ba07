import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { Origin, rejection } from '../../support/fleet.ts'
import { never } from '../../support/memory-cache.ts'
import { Remote } from '../../support/remote.ts'

let remote: Remote
let cache: Cache

const gone = new Error('connection refused')

beforeEach(async () => {
  remote = new Remote()
  cache = remote.join()
  await cache.set('hot', 'kept')
  await cache.get('hot')
})

describe('while the store is away', () => {
  it('what was read before is a hit, and lookup reports `from: outage`', async () => {
    remote.refuses = gone
    expect(await cache.lookup('hot', never)).toMatchObject({ value: 'kept', from: 'outage', status: 'fresh' })
    expect([await cache.get('hot'), [...(await cache.getMany(['hot', 'cold']))]]).toEqual(['kept', [['hot', 'kept']]])
  })

  it('what is read again and again is a hit, however much was read once', async () => {
    const small = remote.join({ outage: { maxEntries: 16 } })
    for (let index = 0; index < 1000; index += 1) {
      await cache.set(`cold ${index}`, 'once')
      await small.get(`cold ${index}`)
      await small.get('hot')
    }
    remote.refuses = gone
    expect(await small.lookup('hot', never)).toMatchObject({ value: 'kept', from: 'outage' })
  })

  it('each key has one load, however many more are in flight than copies are kept', async () => {
    const small = remote.join({ outage: { maxEntries: 2 } })
    remote.refuses = gone
    const origin = new Origin()
    const keys = Array.from({ length: 8 }, (_, index) => `cold ${index}`)
    const early = keys.map((key) => small.getOrSet(key, origin.loader))
    await remote.runtime.advance(10)
    const late = keys.map((key) => small.getOrSet(key, origin.loader))
    await remote.runtime.advance(10)
    for (const { load, resolve } of origin.loads) resolve(load.key)
    expect(await Promise.all([...early, ...late])).toEqual([...keys, ...keys])
    expect(origin.count).toBe(8)
  })

  it('what was read is a hit for outage.maxAge, counted from its last read', async () => {
    await remote.runtime.advance(4000)
    remote.refuses = gone
    await remote.runtime.advance(999)
    expect(await cache.lookup('hot', never)).toMatchObject({ from: 'outage', age: 4999 })
    await remote.runtime.advance(1)
    expect(await cache.lookup('hot', () => 'new')).toMatchObject({ value: 'new', from: 'load' })
  })

  it('a stale copy is served inside its windows, with one load in the background', async () => {
    await cache.set('k', 'stale', { ttl: '1s', staleWhileRevalidate: '1m' })
    await cache.get('k')
    remote.refuses = gone
    await remote.runtime.advance(1001)
    const origin = new Origin()
    const calls = await Promise.all([cache.lookup('k', origin.loader), cache.lookup('k', origin.loader)])
    expect(calls).toMatchObject([
      { value: 'stale', status: 'stale', from: 'outage' },
      { value: 'stale', status: 'stale', from: 'outage' },
    ])
    await remote.runtime.advance(0)
    expect(origin.count).toBe(1)
    origin.last.resolve('new')
    await calls[0]?.refresh
    expect(await cache.lookup('k', never)).toMatchObject({ value: 'new', from: 'outage' })
  })

  it('a key has one load, whose value the process keeps to itself', async () => {
    remote.refuses = gone
    const origin = new Origin()
    const calls = Promise.all([cache.lookup('cold', origin.loader), cache.lookup('cold', origin.loader)])
    await remote.runtime.advance(0)
    origin.last.resolve('loaded')
    expect(await calls).toMatchObject([
      { value: 'loaded', from: 'load', outcome: { kind: 'abandoned', why: 'away' } },
      { value: 'loaded', from: 'load' },
    ])
    expect(await cache.lookup('cold', never)).toMatchObject({ value: 'loaded', from: 'outage' })
    expect(origin.count).toBe(1)
    remote.refuses = undefined
    expect((await remote.memory.read('cold', { id: 16, encode: never, decode: never })).kind).toBe('missing')
  })

  it('an entry that was expired by hand stays stale', async () => {
    await cache.set('k', 'stale', { staleWhileRevalidate: '1m' })
    await cache.expire('k')
    await cache.get('k', { stale: true })
    remote.refuses = gone
    expect(await cache.read('k')).toMatchObject({ value: 'stale', state: 'stale' })
  })

  it('what was loaded and is read again and again stays a hit, however many other keys are loaded', async () => {
    cache = remote.join({ outage: { maxEntries: 4 } })
    remote.refuses = gone
    await cache.getOrSet('read often', () => 'loaded')
    for (let index = 0; index < 20; index += 1) {
      await cache.getOrSet(`cold ${index}`, () => 'once')
      expect(await cache.get('read often')).toBe('loaded')
    }
  })

  it('a loader that fails is not called again during its cooldown', async () => {
    remote.refuses = gone
    const origin = new Origin()
    const failing = rejection(cache.getOrSet('cold', origin.loader, { failureCooldown: { min: '1s' } }))
    await remote.runtime.advance(0)
    origin.last.reject(new Error('no database'))
    expect(await failing).toMatchObject({ message: 'no database' })
    expect(await rejection(cache.getOrSet('cold', origin.loader))).toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED' })
    expect(origin.count).toBe(1)
  })

  it('a value that is uncacheable is kept nowhere', async () => {
    remote.refuses = gone
    const loader = (load: { uncacheable(): void }): string => {
      load.uncacheable()
      return 'mine'
    }
    await cache.getOrSet('cold', loader)
    expect(await cache.get('cold')).toBeUndefined()
    await cache.refresh('hot', loader)
    expect(await cache.get('hot')).toBeUndefined()
  })

  it.each([
    ['set', () => cache.set('hot', 'new')],
    ['delete', () => cache.delete('hot')],
    ['expire', () => cache.expire('hot')],
    ['clear', () => cache.clear()],
  ])('%s rejects, and still drops the copy', async (_, change) => {
    remote.refuses = gone
    expect(await rejection(change())).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY', cause: gone })
    expect(await cache.get('hot')).toBeUndefined()
  })

  it('invalidateTags rejects, drops the copies with the tag, and copies no value of a running load', async () => {
    await cache.set('hot', 'kept', { tags: ['t'] })
    await cache.get('hot')
    remote.refuses = gone
    const origin = new Origin()
    const loading = cache.getOrSet('cold', origin.loader, { tags: ['t'] })
    await remote.runtime.advance(0)
    expect(await rejection(cache.invalidateTags(['t']))).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    origin.last.resolve('old')
    expect(await loading).toBe('old')
    expect([await cache.get('hot'), await cache.get('cold')]).toEqual([undefined, undefined])
  })

  it('a deleted key is not brought back by a load that began before', async () => {
    remote.refuses = gone
    const origin = new Origin()
    const loading = cache.getOrSet('cold', origin.loader)
    await remote.runtime.advance(0)
    await rejection(cache.delete('cold'))
    origin.last.resolve('old')
    expect(await loading).toBe('old')
    expect(await cache.get('cold')).toBeUndefined()
  })

  it('nothing is served from memory where outage is false, and a key still has one load', async () => {
    cache = remote.join({ outage: false })
    await cache.get('hot')
    remote.refuses = gone
    const origin = new Origin()
    const calls = Promise.all([cache.getOrSet('hot', origin.loader), cache.getOrSet('hot', origin.loader)])
    await remote.runtime.advance(0)
    origin.last.resolve('loaded')
    expect([await calls, origin.count]).toEqual([['loaded', 'loaded'], 1])
    expect(await cache.get('hot')).toBeUndefined()
  })

  it('keeps maxEntries copies, and admits a further key only when it is read again and again', async () => {
    cache = remote.join({ outage: { maxEntries: 2 } })
    for (const key of ['a', 'b', 'late', 'hot']) await cache.set(key, key)
    for (const key of ['a', 'b', 'late', ...Array.from({ length: 15 }, () => 'hot')]) await cache.get(key)
    remote.refuses = gone
    expect([...(await cache.getMany(['a', 'b', 'late', 'hot'])).keys()]).toEqual(['b', 'hot'])
  })
})

describe('when the store answers a read of the key again', () => {
  it('what was loaded meanwhile is forgotten', async () => {
    remote.refuses = gone
    await cache.getOrSet('hot', never)
    await cache.getOrSet('cold', () => 'meanwhile')
    remote.refuses = undefined
    await remote.memory.invalidate('hot', 'delete', 0)
    expect([await cache.get('hot'), await cache.get('cold')]).toEqual([undefined, undefined])
    remote.refuses = gone
    expect([await cache.get('hot'), await cache.get('cold')]).toEqual([undefined, undefined])
  })

  it('a load that began meanwhile is given to its callers, and kept nowhere', async () => {
    remote.refuses = gone
    const origin = new Origin()
    const call = cache.lookup('cold', origin.loader)
    await remote.runtime.advance(0)
    remote.refuses = undefined
    await cache.get('cold')
    origin.last.resolve('late')
    expect(await call).toMatchObject({ value: 'late', outcome: { kind: 'refused' } })
    remote.refuses = gone
    expect(await cache.get('cold')).toBeUndefined()
  })

  it('a load that it granted before is committed to it', async () => {
    cache = remote.join({ maxLoads: false })
    const origin = new Origin()
    const call = cache.lookup('cold', origin.loader)
    await remote.runtime.advance(0)
    remote.refuses = gone
    await cache.getOrSet('other', () => 'meanwhile')
    remote.refuses = undefined
    origin.last.resolve('loaded')
    expect(await call).toMatchObject({ outcome: { kind: 'committed' } })
  })
})

describe('a copy for an outage', () => {
  it('is dropped when this process replaces its value', async () => {
    await cache.refresh('hot', () => 'newer')
    remote.refuses = gone
    expect(await cache.get('hot')).toBeUndefined()
  })

  it('is dropped when its key becomes uncacheable', async () => {
    await cache.refresh('hot', (load) => load.uncacheable())
    remote.refuses = gone
    expect(await cache.get('hot')).toBeUndefined()
  })

  it('is not made of a read that an invalidation has overtaken', async () => {
    remote.delays.read = 100
    const late = cache.get('hot')
    await remote.runtime.advance(50)
    await remote.join().delete('hot')
    await remote.runtime.advance(60)
    expect(await late).toBe('kept')
    remote.refuses = gone
    expect(await cache.get('hot')).toBeUndefined()
  })

  it('is dropped when another process deletes the entry', async () => {
    await remote.join().delete('hot')
    remote.refuses = gone
    expect(await cache.get('hot')).toBeUndefined()
  })

  it('stays when notices stop arriving: that is when it is needed', async () => {
    remote.refuses = gone
    remote.tell({ kind: 'disconnected' })
    expect(await cache.get('hot')).toBe('kept')
  })

  it('is the last entry of the store, not an earlier value that this process loaded without it', async () => {
    remote.refuses = gone
    remote.refused = ['acquire']
    expect(await cache.refresh('hot', () => 'own')).toBe('own')
    expect(await cache.get('hot')).toBe('kept')
    remote.refused = ['read']
    expect(await cache.get('hot')).toBe('kept')
  })

  it('is the last of the values that this process loaded without the store', async () => {
    remote.refuses = gone
    for (const value of ['one', 'two']) expect(await cache.refresh('hot', () => value)).toBe(value)
    expect(await cache.get('hot')).toBe('two')
  })

  it('is not an older one that was expired by hand in the same way', async () => {
    const elsewhere = remote.join({ staleIfError: '1h' })
    remote.muted = true
    for (const value of ['one', 'two']) {
      await elsewhere.set('hot', value)
      await elsewhere.expire('hot')
      expect(await cache.get('hot', { stale: true })).toBe(value)
    }
    remote.refuses = gone
    expect(await cache.get('hot', { stale: true })).toBe('two')
  })
})
