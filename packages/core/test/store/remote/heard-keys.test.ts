import { beforeEach, describe, expect, it } from '@jest/globals'
import { Remote } from '../../support/remote.ts'
import { Origin } from '../../support/fleet.ts'
import { never } from '../../support/memory-cache.ts'

let remote: Remote
/** The keys about which notices arrive. */
let heard: Set<string>

beforeEach(() => {
  remote = new Remote()
  heard = new Set()
  remote.receivesNotices = (key) => heard.has(key)
})

describe('a store that subscribes by parts', () => {
  it('has near copies of the keys about which notices arrive, and of no others', async () => {
    const cache = remote.join({ near: {} })
    await cache.set('heard', 1)
    await cache.set('unheard', 2)
    heard.add('heard')
    for (const key of ['heard', 'unheard']) await cache.get(key)
    expect(await cache.lookup('heard', never)).toMatchObject({ from: 'near' })
    expect(await cache.lookup('unheard', never)).toMatchObject({ from: 'store' })
  })

  it('has no near copy of an answer whose read was sent before notices arrived', async () => {
    const cache = remote.join({ near: {} })
    await cache.set('k', 'old')
    remote.delays.read = 10
    const reading = cache.get('k')
    await remote.runtime.advance(0)
    heard.add('k')
    await remote.runtime.advance(10)
    await reading
    remote.delays.read = 0
    expect(await cache.lookup('k', never)).toMatchObject({ from: 'store' })
    expect(await cache.lookup('k', never)).toMatchObject({ from: 'near' })
  })

  /** Loads a value that the store, which answers reads, does not get. */
  async function loadWithoutCommit(during: () => unknown): Promise<unknown> {
    const cache = remote.join()
    await cache.set('k', 'stale', { ttl: '1ms', staleWhileRevalidate: '1m' })
    await remote.runtime.advance(2)
    remote.refuses = new Error('out of memory')
    remote.refused = ['acquire', 'commit']
    const origin = new Origin()
    const refreshing = (await cache.lookup('k', origin.loader)).refresh
    await remote.runtime.advance(0)
    await during()
    origin.last.resolve('loaded')
    await refreshing
    return (await cache.lookup('k', () => 'again')).from
  }

  it('leaves the value of a load without a commit to this process, where notices arrived from its begin', async () => {
    heard.add('k')
    expect(await loadWithoutCommit(() => undefined)).toBe('outage')
  })

  it('does not leave it where notices arrived only after the begin of the load', async () => {
    expect(await loadWithoutCommit(() => heard.add('k'))).toBe('store')
  })

  it('does not leave it where some notices were lost during the load', async () => {
    heard.add('k')
    const part = 'only node'
    const from = await loadWithoutCommit(async () => {
      await remote.runtime.advance(1)
      remote.tell({ kind: 'disconnected', part })
      remote.tell({ kind: 'connected', part })
    })
    expect(from).toBe('store')
  })

  it('whose part is disconnected keeps the near copies of the others', async () => {
    const cache = remote.join({ near: {} })
    for (const key of ['a', 'b']) {
      heard.add(key)
      await cache.set(key, key)
      await cache.get(key)
    }
    heard.delete('a')
    remote.tell({ kind: 'disconnected', part: 'only node' })
    heard.add('a')
    remote.tell({ kind: 'connected', part: 'only node' })
    expect(await cache.lookup('a', never)).toMatchObject({ from: 'store' })
    expect(await cache.lookup('b', never)).toMatchObject({ from: 'near' })
  })
})
