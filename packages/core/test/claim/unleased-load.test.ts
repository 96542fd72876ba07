import { describe, expect, it } from '@jest/globals'
import type { CacheOptions } from '@cattlegrid/core'
import { createFleet, type Fleet, Origin, record, rejection, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

const away = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('reset') } as const)

/** A store that answers reads and grants no lease. */
function withoutLeases(options?: CacheOptions): Fleet {
  const fleet = createFleet(options)
  fleet.store.acquire = away
  return fleet
}

/** A key that is uncacheable, whose loads all callers of a process may share. */
async function withUncacheableKey(): Promise<Fleet> {
  const fleet = createFleet()
  await fleet.caches[0].getOrSet('k', (load) => load.uncacheable())
  return fleet
}

/** A fleet without leases whose key has an old value that may replace a failure. */
async function withStaleIfError(): Promise<Fleet> {
  const fleet = withoutLeases({ staleIfError: '1m' })
  await fleet.caches[0].set('k', 'old')
  await fleet.runtime.advance(10_001)
  return fleet
}

describe('a load without a lease', () => {
  it('is reported as unleased when the key is uncacheable', async () => {
    const { caches } = await withUncacheableKey()
    const { value, outcome } = await caches[0].lookup('k', () => 'value')
    expect([value, outcome]).toEqual(['value', { kind: 'abandoned', why: 'unleased' }])
  })

  it.each(['read', 'acquire'] as const)('is reported with the step that the store did not answer: %s', async (step) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    fleet.store[step] = away
    const events = record(cache, 'away')
    expect(await cache.lookup('k', () => 'value')).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
    expect(events).toMatchObject([['away', { key: 'k', step, error: { message: 'reset' } }]])
  })

  it.each([
    ['the store is away', { kind: 'away', why: 'error', cause: new Error('reset') }, 'away'],
    ['the key is uncacheable', { kind: 'uncacheable', share: true, remaining: 1000 }, 'unleased'],
  ] as const)('is not begun in the background when %s', async (_, answer, why) => {
    const fleet = createFleet({ staleWhileRevalidate: '1m' })
    await fleet.caches[0].set('k', 'stale')
    await fleet.runtime.advance(10_001)
    fleet.store.acquire = () => Promise.resolve(answer)
    const { value, refresh } = await fleet.caches[0].lookup('k', never)
    expect([value, await refresh]).toEqual(['stale', { kind: 'abandoned', why }])
  })
})

describe('a load without a lease that an invalidation of tags finds running', () => {
  it.each<[string, (fleet: Fleet) => Promise<unknown>]>([
    ['is held off', ({ caches }) => caches[0].delete('k', { holdOff: '1m' })],
    ['is uncacheable', ({ caches }) => caches[0].getOrSet('k', (load) => load.uncacheable({ for: '1m' }))],
  ])('stays the only one of a key that %s, and later calls do not get its value', async (_, mark) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    await mark(fleet)
    const origin = new Origin()
    const first = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    const later: Promise<string>[] = []
    for (let call = 0; call < 5; call += 1) {
      await cache.invalidateTags(['t'])
      later.push(cache.getOrSet('k', origin.loader))
      await settle(fleet)
    }
    expect(origin.count).toBe(1)
    origin.last.resolve('before')
    expect(await first).toBe('before')
    await settle(fleet)
    expect(origin.count).toBe(2)
    origin.last.resolve('after')
    expect(new Set(await Promise.all(later))).toEqual(new Set(['after']))
  })
})

describe('a load without a lease that fails', () => {
  const error = new Error('broken')
  const broken = () => Promise.reject(error)

  it('is reported as failed, and starts no cooldown', async () => {
    const { caches } = withoutLeases()
    const events = record(caches[0], 'outcome')
    expect(await rejection(caches[0].getOrSet('k', broken))).toBe(error)
    expect(events).toEqual([
      ['outcome', { key: 'k', outcome: { kind: 'failed', error, cooldown: 0 }, took: 0, leased: false }],
    ])
  })

  it('is replaced by the stale value', async () => {
    const { caches } = await withStaleIfError()
    expect(await caches[0].getOrSet('k', broken)).toBe('old')
  })

  it('is preferred to the stale value when isFailure returns false', async () => {
    const { caches } = await withStaleIfError()
    expect(await rejection(caches[0].getOrSet('k', broken, { isFailure: () => false }))).toBe(error)
  })

  it('fails a late joiner with the same error, and loads no second time', async () => {
    const fleet = await withUncacheableKey()
    const origin = new Origin()
    const first = rejection(fleet.caches[0].getOrSet('k', origin.loader))
    await settle(fleet)
    const late = rejection(fleet.caches[0].getOrSet('k', origin.loader))
    await settle(fleet)
    origin.last.reject(error)
    await settle(fleet)
    expect(origin.count).toBe(1)
    expect(await Promise.all([first, late])).toEqual([error, error])
  })
})

describe('a load without a lease that the close of the cache aborts', () => {
  it('rejects its caller although a stale value is there, and is reported as closed', async () => {
    const fleet = await withStaleIfError()
    const [cache] = fleet.caches
    const events = record(cache, 'outcome')
    const expected = rejection(cache.getOrSet('k', new Origin().loader))
    await settle(fleet)
    const closed = cache.close({ drain: 0 })
    await fleet.runtime.advance(1)
    expect(await expected).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
    await closed
    expect(events).toMatchObject([['outcome', { key: 'k', outcome: { kind: 'abandoned', why: 'closed' } }]])
  })
})

describe('a late joiner of a load without a lease', () => {
  it('loads for itself when the key is uncacheable, since an invalidation may lie before its call', async () => {
    const fleet = await withUncacheableKey()
    const [first, second] = [new Origin(), new Origin()]
    const calls = [fleet.caches[0].getOrSet('k', first.loader)]
    await settle(fleet)
    calls.push(fleet.caches[0].getOrSet('k', second.loader))
    await settle(fleet)
    first.last.resolve('one')
    await settle(fleet)
    second.last.resolve('two')
    expect(await Promise.all(calls)).toEqual(['one', 'two'])
  })

  it('gets the value while the store is away', async () => {
    const fleet = withoutLeases()
    const origin = new Origin()
    const calls = [fleet.caches[0].getOrSet('k', origin.loader)]
    await settle(fleet)
    calls.push(fleet.caches[0].getOrSet('k', origin.loader))
    await settle(fleet)
    origin.last.resolve('value')
    await settle(fleet)
    expect(origin.count).toBe(1)
    expect(await Promise.all(calls)).toEqual(['value', 'value'])
  })
})

describe('a load without a lease whose last caller left before it began', () => {
  it('does not run', async () => {
    const fleet = createFleet({ isFailure: () => false })
    const [cache, other] = fleet.caches
    const elsewhere = new Origin()
    const led = rejection(other.getOrSet('k', elsewhere.loader))
    await settle(fleet)
    const origin = new Origin()
    const abort = new AbortController()
    const call = rejection(cache.getOrSet('k', origin.loader, { signal: abort.signal }))
    await settle(fleet)
    const read = new Promise<void>((resolve) => fleet.runtime.schedule(resolve, 100)).then(away)
    fleet.store.read = () => read
    elsewhere.last.reject(new Error('no failure'))
    await settle(fleet)
    abort.abort(new Error('left'))
    await fleet.runtime.advance(100)
    expect(origin.count).toBe(0)
    expect(await Promise.all([led, call])).toMatchObject([{ message: 'no failure' }, { message: 'left' }])
  })
})

describe('a load without a lease that stops because the signal of its own caller aborted', () => {
  it('makes its joiners load for themselves', async () => {
    const [cache] = (await withUncacheableKey()).caches
    const abort = new AbortController()
    const origin = new Origin()
    const owner = rejection(cache.getOrSet('k', origin.loader, { signal: abort.signal }))
    const joiner = cache.getOrSet('k', () => 'mine')
    await new Promise(setImmediate)
    abort.abort(new Error('left'))
    origin.last.reject(abort.signal.reason)
    expect(await joiner).toBe('mine')
    expect(await owner).toMatchObject({ message: 'left' })
  })
})

describe('a batch without a lease that returns no value for a key', () => {
  it('leaves the key out, and lets a late joiner of that key load', async () => {
    const fleet = withoutLeases()
    const [cache] = fleet.caches
    const events = record(cache, 'outcome')
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const batch = cache.getOrSetMany(['k'], () => ended.then(() => new Map<string, string>()))
    await settle(fleet)
    const joiner = cache.getOrSet('k', () => 'mine')
    await settle(fleet)
    end()
    expect(await batch).toEqual(new Map())
    expect(await joiner).toBe('mine')
    expect(events[0]).toMatchObject(['outcome', { outcome: { kind: 'abandoned', why: 'absent' } }])
  })
})
