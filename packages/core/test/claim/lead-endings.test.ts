import { describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import type { Ending } from '@cattlegrid/core/extend'
import { createFleet, type Fleet, Origin, record, rejection, settle } from '../support/fleet.ts'

const cause = new Error('reset')
const away = () => Promise.resolve({ kind: 'away', why: 'error', cause } as const)

/** The endings that the store is asked for. */
function recordEndings({ store }: Fleet): Ending[] {
  const endings: Ending[] = []
  const { release } = store
  store.release = (lease, ending) => {
    endings.push(ending)
    return release.call(store, lease, ending)
  }
  return endings
}

async function closeDuringLoad(cache: Cache, { runtime }: Fleet): Promise<unknown> {
  const expected = rejection(cache.getOrSet('k', new Origin().loader))
  await runtime.advance(0)
  const closed = cache.close({ drain: 0 })
  await runtime.advance(1)
  await closed
  return await expected
}

const withoutValue: readonly (readonly [string, (cache: Cache, fleet: Fleet) => Promise<unknown>])[] = [
  ['a batch that returns no value for the key', (cache) => cache.getOrSetMany(['k'], () => new Map())],
  [
    'an error that is no failure',
    (cache) => rejection(cache.getOrSet('k', () => Promise.reject(cause), { isFailure: () => false })),
  ],
  ['the close of the cache', closeDuringLoad],
]

describe('a lease', () => {
  it.each(withoutValue)('is handed over after %s', async (_, end) => {
    const fleet = createFleet()
    const endings = recordEndings(fleet)
    await end(fleet.caches[0], fleet)
    expect(endings).toEqual([{ kind: 'handover' }])
  })

  it('ends once when its load is unshareable and then returns no value', async () => {
    const fleet = createFleet()
    const endings = recordEndings(fleet)
    await fleet.caches[0].getOrSetMany(['k'], (_, load) => {
      load.uncacheable('k', { share: false })
      return new Map()
    })
    expect(endings).toEqual([{ kind: 'uncacheable', for: 10_000, share: false }])
  })

  it('that is handed over goes at once to a process that waits for it', async () => {
    const fleet = createFleet()
    const origin = new Origin()
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const batch = fleet.caches[0].getOrSetMany(['k'], () => ended.then(() => new Map<string, string>()))
    await settle(fleet)
    void fleet.caches[1].getOrSet('k', origin.loader)
    await settle(fleet)
    expect(origin.count).toBe(0)
    end()
    await batch
    await settle(fleet)
    expect(origin.count).toBe(1)
  })

  it('makes its key uncacheable when the store cannot keep the value', async () => {
    const fleet = createFleet()
    fleet.store.commit = () => Promise.resolve({ kind: 'unkeepable', why: 'too-large', cause })
    const endings = recordEndings(fleet)
    await fleet.caches[0].getOrSet('k', () => 'value')
    expect(endings).toEqual([{ kind: 'uncacheable', for: 10_000, share: true }])
  })
})

describe('the end of a load under a lease is reported', () => {
  it('as refused, with the reason, when the lease was voided', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const events = record(cache, 'refused')
    const origin = new Origin()
    const call = cache.getOrSet('k', origin.loader)
    await settle(fleet)
    await other.delete('k')
    origin.last.resolve('old')
    await call
    await settle(fleet)
    expect(events).toEqual([['refused', { key: 'k', why: 'voided', took: 0 }]])
  })

  it('as too large, with the cause', async () => {
    const fleet = createFleet()
    fleet.store.commit = () => Promise.resolve({ kind: 'unkeepable', why: 'too-large', cause })
    const events = record(fleet.caches[0], 'too-large')
    await fleet.caches[0].getOrSet('k', () => 'value')
    await settle(fleet)
    expect(events).toEqual([['too-large', { key: 'k', error: cause }]])
  })

  it('as abandoned when the cache was closed', async () => {
    const fleet = createFleet()
    const events = record(fleet.caches[0], 'outcome')
    await closeDuringLoad(fleet.caches[0], fleet)
    expect(events).toMatchObject([['outcome', { key: 'k', outcome: { kind: 'abandoned', why: 'closed' } }]])
  })

  it('with the step that the store did not answer: the commit', async () => {
    const fleet = createFleet()
    fleet.store.commit = away
    const events = record(fleet.caches[0], 'away')
    await fleet.caches[0].getOrSet('k', () => 'value')
    await settle(fleet)
    expect(events).toEqual([['away', { key: 'k', step: 'commit', error: cause }]])
  })

  it('with the step that the store did not answer: the release, and only that', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const events = record(cache, 'away')
    const fail = (key: string) => rejection(cache.getOrSet(key, () => Promise.reject(new Error('broken'))))
    await fail('answered')
    fleet.store.release = away
    await fail('k')
    await settle(fleet)
    expect(events).toEqual([['away', { key: 'k', step: 'release', error: cause }]])
  })
})

describe('a late joiner of an uncacheable load', () => {
  it('gets its value when the lease was still held at the end', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const origin = new Origin()
    const first = cache.getOrSet('k', (load) => {
      load.uncacheable()
      return origin.loader(load)
    })
    await settle(fleet)
    const late = cache.getOrSet('k', () => 'mine')
    await settle(fleet)
    origin.last.resolve('shared')
    expect(await Promise.all([first, late])).toEqual(['shared', 'shared'])
  })
})

describe('a store that rejects', () => {
  it('a renewal is asked for the next one, and the load is committed', async () => {
    const { store, runtime, caches } = createFleet({ lease: { duration: '3s' } })
    const { renew } = store
    store.renew = () => {
      store.renew = renew
      return Promise.reject(cause)
    }
    const origin = new Origin()
    const call = caches[0].lookup('k', origin.loader)
    await runtime.advance(5000)
    origin.last.resolve('loaded')
    expect(await call).toMatchObject({ value: 'loaded', outcome: { kind: 'committed' } })
  })

  it.each([
    ['rejects', () => Promise.reject(cause)],
    [
      'throws',
      () => {
        throw cause
      },
    ],
  ])('a commit (%s) does not keep the value from its callers', async (_, commit) => {
    const { store, caches } = createFleet()
    store.commit = commit
    expect(await caches[0].lookup('k', () => 'loaded')).toMatchObject({
      value: 'loaded',
      outcome: { kind: 'abandoned', why: 'away' },
    })
  })
})
