import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { Remote } from '../../support/remote.ts'

let remote: Remote
let here: Cache
let there: Cache

beforeEach(async () => {
  remote = new Remote()
  here = remote.join()
  there = remote.join()
  await there.set('k', 'first', { tags: ['t', 'u'] })
  await here.get('k')
})

describe('the number of a tag', () => {
  it('is asked for once in tags.maxAge, however many hits there are', async () => {
    const asked = remote.count('tagNumbers')
    for (let hit = 0; hit < 10; hit += 1) expect(await here.get('k')).toBe('first')
    expect(remote.count('tagNumbers')).toBe(asked)
    await remote.runtime.advance(1000)
    await here.get('k')
    expect(remote.count('tagNumbers')).toBe(asked + 1)
  })

  it('is asked for at every read with tags.maxAge 0', async () => {
    here = remote.join({ tags: { maxAge: 0 } })
    await here.get('k')
    await here.get('k')
    expect(remote.count('tagNumbers')).toBe(3)
  })

  it('is learned by push, at once', async () => {
    await there.invalidateTags(['u'])
    expect(await here.get('k')).toBeUndefined()
  })

  it('is learned after tags.maxAge at most when the push is lost', async () => {
    remote.muted = true
    await there.invalidateTags(['u'])
    await remote.runtime.advance(999)
    expect(await here.get('k')).toBe('first')
    await remote.runtime.advance(1)
    expect(await here.get('k')).toBeUndefined()
  })

  it('is known in the calling process once the promise settles, even if the notice is lost', async () => {
    remote.muted = true
    await here.invalidateTags(['t'])
    expect(await here.get('k')).toBeUndefined()
  })

  it('is asked for again when the invalidation had no answer', async () => {
    remote.muted = true
    remote.delays.invalidateTags = Infinity
    const falling = here.invalidateTags(['t']).catch(() => undefined)
    await remote.runtime.advance(300)
    await falling
    const asked = remote.count('tagNumbers')
    await here.get('k')
    expect(remote.count('tagNumbers')).toBe(asked + 1)
  })

  it('is asked for again when the channel was lost', async () => {
    const asked = remote.count('tagNumbers')
    remote.tell({ kind: 'disconnected' })
    await here.get('k')
    expect(remote.count('tagNumbers')).toBe(asked + 1)
  })

  it('that seems too high is read once more before a load begins', async () => {
    const asked = remote.count('tagNumbers')
    // A notice of a fall that this entry has outlived by now, as one does that was long under way.
    remote.tell({ kind: 'tags', tags: ['t'], tagSeq: 7, how: 'delete' })
    expect(await here.get('k')).toBe('first')
    expect(remote.count('tagNumbers')).toBe(asked + 1)
  })

  it.each(['delete', 'expire'] as const)(
    'of another database, whose notice (%s) reaches this one, is asked for once, and no hit after that asks again',
    async (how) => {
      here = remote.join({ tags: { maxAge: '10s' } })
      await here.get('k')
      await remote.runtime.advance(1)
      remote.tell({ kind: 'tags', tags: ['t'], tagSeq: 7, how })
      await remote.runtime.advance(1)
      const asked = remote.count('tagNumbers')
      for (let hit = 0; hit < 10; hit += 1)
        expect(await here.read('k')).toMatchObject({ value: 'first', state: 'fresh' })
      expect(remote.count('tagNumbers')).toBe(asked + 1)
    },
  )

  it('is not replaced by an older one that was under way during the invalidation', async () => {
    await remote.runtime.advance(1000)
    remote.delays.tagNumbers = 100
    const late = here.get('k')
    await remote.runtime.advance(50)
    await there.invalidateTags(['t'])
    await remote.runtime.advance(60)
    await late
    delete remote.delays.tagNumbers
    expect(await here.get('k')).toBeUndefined()
  })

  it('is read once after an expiry, however many hits there are, and every hit is stale', async () => {
    await there.set('k', 'first', { tags: ['t', 'u'], staleIfError: '1h' })
    await there.expireTags(['u'])
    const asked = remote.count('tagNumbers')
    for (let hit = 0; hit < 10; hit += 1) expect(await here.read('k')).toMatchObject({ state: 'stale' })
    expect(remote.count('tagNumbers')).toBe(asked + 1)
  })

  it('of an expiry is learned after tags.maxAge at most when the push is lost', async () => {
    await there.set('k', 'first', { tags: ['t'], staleIfError: '1h' })
    await here.get('k')
    remote.muted = true
    await there.expireTags(['t'])
    await remote.runtime.advance(999)
    expect(await here.read('k')).toMatchObject({ state: 'fresh' })
    await remote.runtime.advance(1)
    expect(await here.read('k')).toMatchObject({ state: 'stale', freshFor: -1000 })
  })

  it('of an expiry is known in the calling process once the promise settles, even if the notice is lost', async () => {
    await there.set('k', 'first', { tags: ['t'], staleIfError: '1h' })
    await here.get('k')
    remote.muted = true
    await here.expireTags(['t'])
    expect(await here.read('k')).toMatchObject({ state: 'stale' })
  })

  it('of an expiry is not replaced by an older one that was under way', async () => {
    await there.set('k', 'first', { tags: ['t'], staleIfError: '1h' })
    await remote.runtime.advance(1000)
    remote.delays.tagNumbers = 100
    const late = here.get('k')
    await remote.runtime.advance(50)
    await there.expireTags(['t'])
    await remote.runtime.advance(60)
    await late
    delete remote.delays.tagNumbers
    expect(await here.read('k')).toMatchObject({ state: 'stale' })
  })

  it('of an invalidation that follows an expiry makes the entry unusable', async () => {
    await there.set('k', 'first', { tags: ['t'], staleIfError: '1h' })
    await there.expireTags(['t'])
    expect(await here.read('k')).toMatchObject({ state: 'stale' })
    await there.invalidateTags(['t'])
    expect(await here.read('k')).toBeUndefined()
  })

  it('that the store has lost makes the entry unusable', async () => {
    remote.forget('t')
    await remote.runtime.advance(1000)
    expect(await here.get('k')).toBeUndefined()
  })

  it('that cannot be read makes its entries misses, and hangs no call', async () => {
    remote.delays.tagNumbers = Infinity
    await remote.runtime.advance(1000)
    const call = here.getOrSet('k', () => 'loaded', { maxAge: '1h' })
    await remote.runtime.advance(300)
    expect(await call).toBe('first')
    expect(await here.lookup('other', () => 'loaded')).toMatchObject({ from: 'load' })
  })
})

describe('a loader', () => {
  it('gets no stale value whose tag has fallen between the read and the acquire', async () => {
    await there.set('k', 'old', { tags: ['t'], staleIfError: '1m' })
    await remote.runtime.advance(10_001)
    remote.delays.tagNumbers = 50
    let stale: unknown = 'not called'
    const call = here.getOrSet('k', (load) => {
      stale = load.stale?.value
      return 'new'
    })
    await remote.runtime.advance(10)
    await there.invalidateTags(['t'])
    await remote.runtime.advance(100)
    expect(await call).toBe('new')
    expect(stale).toBeUndefined()
  })

  it('gets the stale value while no tag has fallen, and the store is not asked for the numbers once more', async () => {
    await there.set('k', 'old', { tags: ['t'], staleIfError: '1m' })
    await remote.runtime.advance(10_001)
    const asked = remote.count('tagNumbers')
    let stale: unknown
    await here.getOrSet('k', (load) => {
      stale = load.stale?.value
      return 'new'
    })
    expect(stale).toBe('old')
    expect(remote.count('tagNumbers')).toBe(asked + 1)
  })
})
