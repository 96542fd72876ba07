import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, type Codec, json, type Load, structured } from '@cattlegrid/core'
import { never } from '../../support/memory-cache.ts'
import { Remote } from '../../support/remote.ts'

let remote: Remote
let here: Cache
let there: Cache

const unkept = (load: Load): string => {
  load.uncacheable()
  return 'unkept'
}

const ask = (options = {}): Promise<unknown> => here.getOrSet('k', never, options)

beforeEach(async () => {
  remote = new Remote()
  here = remote.join({ near: {} })
  there = remote.join()
  await there.set('k', 'first')
  await ask()
})

describe('a near copy', () => {
  it('answers without a command to the store, and lookup reports `from: near`', async () => {
    const asked = remote.count('read')
    expect(await here.lookup('k', never)).toMatchObject({ value: 'first', from: 'near', status: 'fresh', role: 'none' })
    expect([await here.get('k'), (await here.read('k'))?.value]).toEqual(['first', 'first'])
    expect(remote.count('read')).toBe(asked)
  })

  it('is not served to a call with near: false', async () => {
    expect(await here.lookup('k', never, { near: false })).toMatchObject({ value: 'first', from: 'store' })
  })

  it('of a value that cannot be frozen is not kept, and no call hangs', async () => {
    const stubborn = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error('not to be looked at')
        },
      },
    )
    await there.set('stubborn', stubborn)
    const freezing = remote.join({ near: {}, freeze: true })
    expect(await freezing.getOrSet('stubborn', () => 'loaded')).toBe('loaded')
  })

  it('is not there in a cache that has no near cache', async () => {
    expect(await there.lookup('k', never)).toMatchObject({ from: 'store' })
    expect(await there.lookup('k', never)).toMatchObject({ from: 'store' })
  })

  it.each([
    ['set', () => there.set('k', 'second'), 'second'],
    ['delete', () => there.delete('k'), 'loaded'],
    ['expire', () => there.expire('k'), 'loaded'],
    ['clear', () => there.clear(), 'loaded'],
    ['refresh of the fresh entry', () => there.refresh('k', () => 'second'), 'second'],
    ['result that is not kept, which removes the fresh entry,', () => there.refresh('k', unkept), 'loaded'],
  ])('is dropped by the notice of a %s in another process', async (_, change, then) => {
    await change()
    expect(await here.getOrSet('k', () => 'loaded')).toBe(then)
  })

  it.each([
    ['set', () => here.set('k', 'second'), 'second'],
    ['delete', () => here.delete('k'), 'loaded'],
    ['expire', () => here.expire('k'), 'loaded'],
    ['clear', () => here.clear(), 'loaded'],
    ['refresh', () => here.refresh('k', () => 'second'), 'second'],
  ])(
    'is dropped when the promise of a %s in its own process settles, even if the notice is lost',
    async (_, change, then) => {
      remote.muted = true
      await change()
      expect(await here.getOrSet('k', () => 'loaded')).toBe(then)
    },
  )

  it('is dropped when the promise of a refresh settles, although the store has not answered the commit yet', async () => {
    remote.delays.commit = 50
    await here.refresh('k', () => 'second')
    expect(await here.lookup('k', never)).toMatchObject({ value: 'second', from: 'store' })
  })

  it('is dropped by an invalidation that the store never answered', async () => {
    remote.delays.invalidate = Infinity
    const deleting = here.delete('k').catch((error: unknown) => error)
    await remote.runtime.advance(300)
    expect(await deleting).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
    expect(await here.lookup('k', never)).toMatchObject({ from: 'store' })
  })

  it('is dropped by an invalidation of its tag, and of no other', async () => {
    await there.set('tagged', 'old', { tags: ['t'] })
    await here.getOrSet('tagged', never)
    await there.invalidateTags(['other'])
    expect(await here.lookup('tagged', never)).toMatchObject({ from: 'near' })
    await there.invalidateTags(['t'])
    expect(await here.getOrSet('tagged', () => 'new')).toBe('new')
  })

  it('is served for near.maxAge at most when the push is lost', async () => {
    here = remote.join({ near: { maxAge: '2s' } })
    await here.getOrSet('k', never)
    await here.getOrSet('k', never)
    remote.muted = true
    await there.delete('k')
    await remote.runtime.advance(1900)
    expect(await here.lookup('k', never)).toMatchObject({ from: 'near', age: 1900 })
    await remote.runtime.advance(100)
    expect(await here.getOrSet('k', () => 'loaded')).toBe('loaded')
  })

  it('is never served stale: another process may have refreshed the entry', async () => {
    await there.set('k', 'old', { ttl: '1s', staleWhileRevalidate: '1m' })
    await here.getOrSet('k', never)
    await remote.runtime.advance(1001)
    expect(await here.lookup('k', () => 'new')).toMatchObject({ value: 'old', status: 'stale', from: 'store' })
  })

  it('is decoded by the codec of its call', async () => {
    expect(await here.lookup('k', never, { codec: structured })).toMatchObject({ from: 'store' })
  })

  it('is not served to a call whose maxAge it exceeds', async () => {
    await remote.runtime.advance(1000)
    expect(await here.lookup('k', () => 'new', { maxAge: '500ms' })).toMatchObject({ value: 'new', from: 'load' })
  })

  it('of undefined and of null is a hit like any other', async () => {
    await there.set('nothing', null)
    await here.getOrSet('nothing', never)
    expect(await here.lookup('nothing', never)).toMatchObject({ value: null, from: 'near' })
  })
})

describe('a read that an invalidation overtakes', () => {
  it.each([
    ['deleted', () => there.delete('k')],
    ['put', () => there.set('k', 'second')],
    ['cleared', () => there.clear()],
    [
      'beyond the reach of notices',
      async () => {
        remote.tell({ kind: 'disconnected' })
        await remote.runtime.advance(0)
        remote.tell({ kind: 'connected' })
      },
    ],
  ])('because its entry is %s is answered, and not copied', async (_, change) => {
    here = remote.join({ near: {} })
    await remote.runtime.advance(0)
    remote.delays.read = 100
    const late = here.get('k')
    await remote.runtime.advance(50)
    await change()
    await remote.runtime.advance(100)
    expect(await late).toBe('first')
    delete remote.delays.read
    const asked = remote.count('read')
    await here.get('k')
    expect(remote.count('read')).toBe(asked + 1)
  })
})

describe('the near cache', () => {
  it('keeps no copy of an entry whose tag is invalidated while it is read', async () => {
    await there.set('tagged', 'old', { tags: ['t'] })
    remote.delays.tagNumbers = 100
    const late = here.get('tagged')
    await remote.runtime.advance(50)
    await there.invalidateTags(['t'])
    await remote.runtime.advance(100)
    await late
    delete remote.delays.tagNumbers
    expect(await here.get('tagged')).toBeUndefined()
  })

  it('is emptied at once when the channel breaks, and is used again when it is back', async () => {
    remote.tell({ kind: 'disconnected' })
    expect(await here.lookup('k', never)).toMatchObject({ from: 'store' })
    expect(await here.lookup('k', never)).toMatchObject({ from: 'store' })
    remote.tell({ kind: 'connected' })
    expect(await here.lookup('k', never)).toMatchObject({ from: 'store' })
    expect(await here.lookup('k', never)).toMatchObject({ from: 'near' })
  })

  it('keeps maxEntries copies, and evicts the least recently used', async () => {
    here = remote.join({ near: { maxEntries: 2 } })
    for (const key of ['a', 'b', 'c']) {
      await there.set(key, key)
      await here.get(key)
      await here.get(key)
    }
    const from = async (key: string): Promise<string> => (await here.lookup(key, never)).from
    expect([await from('c'), await from('b'), await from('a')]).toEqual(['near', 'near', 'store'])
  })

  it('keeps no copy larger than maxBytes', async () => {
    here = remote.join({ near: { maxBytes: 300 } })
    for (const [key, tags] of [
      ['x'.repeat(200), []],
      ['tagged', ['t'.repeat(200)]],
    ] as const) {
      await there.set(key, 'small', { tags })
      await here.get(key)
      expect(await here.lookup(key, never)).toMatchObject({ from: 'store' })
    }
  })
})

describe('a near copy of a codec that each call makes anew', () => {
  it('is hit, because its codec has the same id', async () => {
    const codec = (): Codec<string> => ({ id: 16, encode: () => new Uint8Array(), decode: () => '' })
    await here.set('k', 'v')
    await ask({ codec: codec() })
    const reads = remote.count('read')
    expect(await ask({ codec: codec() })).toBe('v')
    expect(remote.count('read')).toBe(reads)
    expect(here.peek('k', { codec: json })).toBeUndefined()
  })
})
