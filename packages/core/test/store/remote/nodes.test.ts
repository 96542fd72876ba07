import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Cache, CacheOptions } from '@cattlegrid/core'
import { rejection } from '../../support/fleet.ts'
import { never } from '../../support/memory-cache.ts'
import { Remote, TAGS_NODE } from '../../support/remote.ts'

/** A store of three nodes: keys that begin with `a`, all others, and the tags. */
let remote: Remote
let cache: Cache
let states: string[]

beforeEach(() => {
  remote = new Remote()
  remote.nodeOf = (key) => (key.startsWith('a') ? 'node a' : 'node b')
  join()
})

function join(options: CacheOptions = {}): void {
  cache = remote.join({ ttl: '1h', ...options })
  states = []
  cache.on('breaker', ({ state, node }) => void states.push(`${node} ${state}`))
}

/** So many reads of the silent node at once, each of which waits for it in vain. */
async function readInVain(count: number): Promise<void> {
  const reads = Promise.all(Array.from({ length: count }, (_, index) => cache.get(`b silent ${index}`)))
  await remote.runtime.advance(300)
  await reads
}

describe('while one node is silent', () => {
  it('only its own breaker opens: the keys of the others are read as before', async () => {
    await cache.set('a', 'kept')
    await cache.set('b', 'kept too')
    await cache.get('b')
    remote.silent = ['node b']
    await readInVain(5)
    expect(states).toEqual(['node b open'])
    expect(await cache.lookup('a', never)).toMatchObject({ value: 'kept', from: 'store' })
    expect(await cache.lookup('b', never)).toMatchObject({ value: 'kept too', from: 'outage' })
    const error = await rejection(cache.delete('b'))
    expect(error).toMatchObject({
      code: 'CATTLEGRID_STORE_AWAY',
      cause: { message: 'The node node b has stopped answering' },
    })
    await cache.delete('a')
  })

  it('its breaker closes again by itself once the node answers', async () => {
    remote.silent = ['node b']
    await readInVain(5)
    remote.silent = []
    await remote.runtime.advance(1300)
    expect(states).toEqual(['node b open', 'node b closed'])
    await cache.set('b', 'new')
    expect(await cache.get('b')).toBe('new')
  })

  it('answers of the other nodes do not keep its breaker closed', async () => {
    await cache.set('a', 'kept')
    remote.silent = ['node b']
    const reads = Promise.all(Array.from({ length: 5 }, (_, index) => cache.get(`b silent ${index}`)))
    for (let passed = 0; passed < 300; passed += 10) {
      await cache.get('a')
      await remote.runtime.advance(10)
    }
    await reads
    expect(states).toEqual(['node b open'])
  })

  it('steps that wait for it take no place of those to other nodes', async () => {
    await cache.set('a', 'kept')
    remote.silent = ['node b']
    const inVain = Array.from({ length: 2000 }, (_, index) => cache.get(`b silent ${index}`))
    await remote.runtime.advance(0)
    expect(await cache.get('a')).toBe('kept')
    await remote.runtime.advance(11_000)
    await Promise.all(inVain)
  })

  it('the near copies of the other nodes stay, and those of its own are dropped', async () => {
    join({ near: {} })
    for (const key of ['a', 'b']) {
      await cache.set(key, 'kept')
      await cache.get(key)
    }
    remote.silent = ['node b']
    await readInVain(5)
    expect(await cache.lookup('a', never)).toMatchObject({ from: 'near' })
    expect(await cache.lookup('b', never)).toMatchObject({ from: 'outage' })
  })
})

const TAGGED = ['a', 'a1', 'a2', 'a3', 'a4']

describe('while the node of the tags is silent', () => {
  beforeEach(async () => {
    join({ outage: { maxAge: '5s' } })
    for (const key of TAGGED) {
      await cache.set(key, 'tagged', { tags: ['t'] })
      await cache.get(key)
    }
    remote.silent = [TAGS_NODE]
  })

  /** Reads with numbers that are too old ask the node in vain. */
  async function askInVain(): Promise<void> {
    await remote.runtime.advance(1100)
    const reads = Promise.all(TAGGED.map((key) => cache.get(key)))
    await remote.runtime.advance(300)
    await reads
    await remote.runtime.advance(300)
  }

  it('entries are judged by the numbers that were known within outage.maxAge', async () => {
    await askInVain()
    expect(await cache.lookup('a', never)).toMatchObject({ value: 'tagged', from: 'store' })
  })

  it('entries whose tags were never known are not served: their callers load', async () => {
    const stranger = remote.join({ ttl: '1h' })
    const call = stranger.lookup('a', () => 'loaded')
    await remote.runtime.advance(300)
    expect(await call).toMatchObject({ value: 'loaded', from: 'load' })
  })

  it('numbers that are older than outage.maxAge judge nothing', async () => {
    join({ outage: false })
    remote.silent = []
    await cache.get('a')
    remote.silent = [TAGS_NODE]
    await remote.runtime.advance(1100)
    const call = cache.lookup('a', () => 'loaded')
    await remote.runtime.advance(300)
    expect(await call).toMatchObject({ value: 'loaded' })
  })

  it('an invalidation of this process counts, although the node did not confirm it', async () => {
    const falling = rejection(cache.invalidateTags(['t']))
    await remote.runtime.advance(300)
    await falling
    const call = cache.lookup('a', () => 'loaded')
    await remote.runtime.advance(300)
    expect(await call).toMatchObject({ value: 'loaded' })
  })

  it('an expiry of a tag does not make an entry usable that an invalidation has ended', async () => {
    remote.silent = []
    await cache.invalidateTags(['t'])
    await cache.expireTags(['t'])
    remote.silent = [TAGS_NODE]
    const call = cache.lookup('a', () => 'loaded')
    await remote.runtime.advance(300)
    expect(await call).toMatchObject({ value: 'loaded' })
  })

  it('the breaker of the node that holds the entry stays closed', async () => {
    for (let round = 0; round < 3; round += 1) await askInVain()
    expect(states).not.toContain('node a open')
    expect(states).toContain(`${TAGS_NODE} open`)
  })

  it('a value whose commit needs it is kept in this process: its key has one load', async () => {
    let loads = 0
    const load = (): string => `load ${(loads += 1)}`
    const first = cache.getOrSet('a new', load, { tags: ['t'] })
    await remote.runtime.advance(300)
    expect(await first).toBe('load 1')
    // The commit has four times as long.
    await remote.runtime.advance(1200)
    for (let round = 0; round < 10; round += 1)
      expect(await cache.lookup('a new', load, { tags: ['t'] })).toMatchObject({ value: 'load 1', from: 'outage' })
    expect(loads).toBe(1)
  })

  it('a value that an invalidation overtook before its commit failed is not kept', async () => {
    const first = cache.getOrSet('a new', () => 'old', { tags: ['t'] })
    await remote.runtime.advance(100)
    await cache.delete('a new')
    await remote.runtime.advance(1500)
    expect(await first).toBe('old')
    expect(await cache.get('a new')).toBeUndefined()
  })
})
