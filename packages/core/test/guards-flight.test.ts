import { describe, expect, it } from '@jest/globals'
import { json, structured } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, rejection, settle, trace } from './fleet.ts'

/** Reads that end when the test says so, and no hits from memory. */
function slowReads(fleet: Fleet): (() => void)[] {
  const letGo: (() => void)[] = []
  const { read } = fleet.store
  fleet.store.peek = () => undefined
  fleet.store.read = async (...args) => {
    await new Promise<void>((resolve) => letGo.push(resolve))
    return read.apply(fleet.store, args)
  }
  return letGo
}

describe('a read under way', () => {
  it('is not joined by a caller with another codec, who would get a value decoded by the wrong one', async () => {
    const fleet = createFleet()
    const reads = slowReads(fleet)
    const calls = [fleet.caches[0].get('k', { codec: json }), fleet.caches[0].get('k', { codec: structured })]
    await settle(fleet)
    expect(reads).toHaveLength(2)
    for (const letGo of reads) letGo()
    await Promise.all(calls)
  })

  it('and that is followed by one with another codec leaves the place to it when it ends', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const reads = slowReads(fleet)
    const calls = [cache.get('k', { codec: json }), cache.get('k', { codec: structured })]
    await settle(fleet)
    reads[0]?.()
    await settle(fleet)
    calls.push(cache.get('k', { codec: structured }))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[1]?.()
    await Promise.all(calls)
  })

  it('is not joined once another process has written, and leaves its place to the read that came after', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const reads = slowReads(fleet)
    const calls = [cache.get('k')]
    await settle(fleet)
    await other.set('k', 'new')
    calls.push(cache.get('k'))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[0]?.()
    await settle(fleet)
    calls.push(cache.get('k'))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[1]?.()
    expect(await Promise.all(calls.slice(1))).toEqual(['new', 'new'])
  })
})

describe('a flight', () => {
  it('that was detached leaves the place of the flight that came after it when it ends', async () => {
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

  it('whose result belongs to its own caller takes no joiner any more', async () => {
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

  it('that loads without the store is over for a caller that comes when it has its result', async () => {
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

  it('is not begun for a call whose signal has aborted before', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    const call = fleet.caches[0].getOrSet('k', origin.loader, { signal: AbortSignal.abort(new Error('too late')) })
    expect(await rejection(call)).toMatchObject({ message: 'too late' })
    await settle(fleet)
    expect(origin.count).toBe(0)
    expect(fleet.runtime.pendingTimers).toBe(0)
  })

  it('gives a caller that joined while its load ran the value once it is committed, and not before', async () => {
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

  it('behind a stale value may ask for the key of the load that met that value', async () => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    const [cache] = fleet.caches
    await cache.set('b', 'old')
    await fleet.runtime.advance(10_001)
    const failures = trace(cache, 'load-failed')
    const b = (): Promise<string> => cache.getOrSet('b', async () => `b of ${await cache.getOrSet('a', () => 'a')}`)
    await cache.getOrSet('a', async () => `a of ${await b()}`)
    await settle(fleet)
    expect(failures).toEqual([])
    expect(await cache.get('b')).toBe('b of a of old')
  })
})

describe('a hit from memory', () => {
  it('reads no clock but the coarse one', async () => {
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
