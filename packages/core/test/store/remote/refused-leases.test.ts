import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { Origin } from '../../support/fleet.ts'
import { never } from '../../support/memory-cache.ts'
import { Remote } from '../../support/remote.ts'

let remote: Remote
let cache: Cache

const gone = new Error('OOM command not allowed')

beforeEach(async () => {
  remote = new Remote()
  cache = remote.join()
  await cache.set('hot', 'kept')
  await cache.get('hot')
})

describe('while the store answers reads and refuses leases', () => {
  beforeEach(() => {
    remote.refuses = gone
    remote.refused = ['acquire', 'commit', 'put']
  })

  it('a key has one load, and its value is served for outage.maxAge', async () => {
    expect(await cache.getOrSet('cold', () => 'loaded')).toBe('loaded')
    await remote.runtime.advance(4999)
    expect(await cache.lookup('cold', never)).toMatchObject({ value: 'loaded', from: 'outage', age: 4999 })
    await remote.runtime.advance(1)
    expect(await cache.getOrSet('cold', () => 'again')).toBe('again')
  })

  it('a stale entry is replaced in this process too', async () => {
    remote.refuses = undefined
    await cache.set('k', 'stale', { ttl: '1s', staleIfError: '1m' })
    remote.refuses = gone
    await remote.runtime.advance(1001)
    expect(await cache.getOrSet('k', () => 'new')).toBe('new')
    expect(await cache.lookup('k', never)).toMatchObject({ value: 'new', from: 'outage' })
  })

  it('the store is asked for a lease again as soon as that value is not fresh any more', async () => {
    await cache.getOrSet('cold', () => 'loaded', { ttl: '1s' })
    remote.refuses = undefined
    await remote.runtime.advance(1000)
    expect(await cache.lookup('cold', () => 'again')).toMatchObject({ outcome: { kind: 'committed' } })
  })

  it('a refresh asks the store for a lease, whatever was loaded meanwhile', async () => {
    await cache.getOrSet('cold', () => 'loaded')
    remote.refuses = undefined
    await cache.refresh('cold', () => 'again')
    expect(await remote.join().get('cold')).toBe('again')
  })

  it('a process that receives no notices serves no value that it loaded', async () => {
    await cache.getOrSet('cold', () => 'loaded')
    remote.tell({ kind: 'disconnected' })
    expect(await cache.getOrSet('cold', () => 'again')).toBe('again')
  })

  it.each([
    ['was loaded', 'after'],
    ['began to load', 'during'],
  ])('a value that %s before notices were lost is not served when they arrive again', async (_, lost) => {
    const origin = new Origin()
    const loading = cache.getOrSet('cold', origin.loader)
    await remote.runtime.advance(1)
    const lose = (): void => {
      remote.tell({ kind: 'disconnected' })
      remote.tell({ kind: 'connected' })
    }
    if (lost === 'during') lose()
    origin.last.resolve('loaded')
    await loading
    if (lost === 'after') {
      await remote.runtime.advance(1)
      lose()
    }
    expect(await cache.get('cold')).toBeUndefined()
  })

  it('a value whose key became uncacheable is served no more', async () => {
    await cache.getOrSet('cold', () => 'loaded')
    await cache.refresh('cold', (load) => load.uncacheable())
    expect(await cache.get('cold')).toBeUndefined()
  })

  it('an entry that another process has stored meanwhile comes first', async () => {
    await cache.getOrSet('cold', () => 'loaded')
    remote.refuses = undefined
    await remote.join().set('cold', 'theirs')
    expect(await cache.lookup('cold', never)).toMatchObject({ value: 'theirs', from: 'store' })
  })

  it('a fresh entry comes first, whatever was loaded', async () => {
    await cache.refresh('hot', () => 'own')
    expect(await cache.lookup('hot', never)).toMatchObject({ value: 'kept', from: 'store' })
  })

  it.each([
    ['before it was loaded', async () => await remote.join().delete('cold')],
    ['by tag', async () => await remote.join().invalidateTags(['t'])],
  ])('what is invalidated while it loads, %s, is not kept', async (_, invalidate) => {
    const origin = new Origin()
    const loading = cache.getOrSet('cold', origin.loader, { tags: ['t'] })
    await remote.runtime.advance(0)
    await invalidate()
    origin.last.resolve('old')
    expect(await loading).toBe('old')
    expect(await cache.get('cold')).toBeUndefined()
  })

  it('a lease that ends without a commit, in any process, drops no copy', async () => {
    await cache.getOrSet('cold', () => 'loaded')
    remote.tell({ kind: 'released', key: 'cold' })
    expect(await cache.lookup('cold', never)).toMatchObject({ value: 'loaded', from: 'outage' })
  })

  it('what is deleted afterwards is gone', async () => {
    await cache.getOrSet('cold', () => 'loaded')
    await remote.join().delete('cold')
    expect(await cache.get('cold')).toBeUndefined()
  })
})
