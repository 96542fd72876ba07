import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createCache, json, memoryStore, type NewEntry, NO_VERSION, type Store } from '@cattlegrid/core'
import {
  createManualRuntime,
  describeStoreContract,
  type FaultyStore,
  faultyStore,
  type ManualRuntime,
  type StoreFault,
  type StoreVerb,
} from '@cattlegrid/testkit'

describeStoreContract('a faulty store without a fault', () => {
  const runtime = createManualRuntime()
  const store = memoryStore({ runtime })
  return Promise.resolve({
    open: () => Promise.resolve(faultyStore(store)),
    advance: (ms: number) => runtime.advance(ms),
    now: () => runtime.now(),
    stop: () => store.close(),
  })
})

const entry: NewEntry = { value: 1, ttl: 60_000, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 5, tags: [] }

let runtime: ManualRuntime
let inner: Store
let store: FaultyStore

beforeEach(() => {
  runtime = createManualRuntime()
  inner = memoryStore({ runtime })
  store = faultyStore(inner, [], runtime)
})

const put = (key: string): Promise<{ readonly kind: string }> => store.put(key, entry, json)
/** Whether an entry stands at the key, whatever becomes of the faulty store's answers. */
const stands = async (key: string): Promise<boolean> => (await inner.read(key, json)).kind === 'found'

/** How a step was answered so far. */
function watched(step: Promise<{ readonly kind: string }>): () => string {
  let answer = 'nothing yet'
  step.then(
    ({ kind }) => (answer = kind),
    (error: unknown) => (answer = (error as Error).message),
  )
  return () => answer
}

describe('a fault of a store', () => {
  test.each([
    ['away', { kind: 'away' }, { answer: 'away', executed: false }],
    ['lost', { kind: 'lost' }, { answer: 'away', executed: true }],
    ['hang', { kind: 'hang' }, { answer: 'nothing yet', executed: false }],
    ['late for good', { kind: 'late', ms: Infinity }, { answer: 'nothing yet', executed: true }],
    ['reject', { kind: 'reject', error: new Error('broken') }, { answer: 'broken', executed: false }],
  ] as const)('%s: the answer, and what was executed', async (_, fault, expected) => {
    store.inject(fault)
    const answer = watched(put('k'))
    await runtime.advance(1000)
    expect({ answer: answer(), executed: await stands('k') }).toEqual(expected)
  })

  test('that throws does so before there is a promise', () => {
    store.inject({ kind: 'throw' })
    expect(() => put('k')).toThrow("breaks its contract in 'put'")
  })

  test('of lateness executes at once and answers when it is due', async () => {
    store.inject({ kind: 'late', ms: 300 })
    const answer = watched(put('k'))
    await runtime.advance(299)
    expect([answer(), await stands('k')]).toEqual(['nothing yet', true])
    await runtime.advance(1)
    expect(answer()).toBe('stored')
  })

  test('of delay executes when it is due', async () => {
    store.inject({ kind: 'delayed', ms: 300 })
    const answer = watched(put('k'))
    await runtime.advance(299)
    expect([answer(), await stands('k')]).toEqual(['nothing yet', false])
    await runtime.advance(1)
    expect([answer(), await stands('k')]).toEqual(['stored', true])
  })

  test('befalls the verbs that it names, after so many calls and so many times', async () => {
    store.inject({ kind: 'away', verbs: ['put'], after: 1, times: 2 })
    const answers = []
    for (let call = 0; call < 5; call += 1) answers.push((await put('k')).kind, (await store.ping()).kind)
    expect(answers).toEqual(['stored', 'done', 'away', 'done', 'away', 'done', 'stored', 'done', 'stored', 'done'])
  })

  test('gives way to a later one, and comes back when that is ended', async () => {
    store.inject({ kind: 'away' })
    const end = store.inject({ kind: 'lost', verbs: ['put'] })
    await put('lost')
    end()
    await put('away')
    expect([await stands('lost'), await stands('away')]).toEqual([true, false])
  })

  test('is over when the store is healed', async () => {
    store.inject({ kind: 'hang' })
    store.inject({ kind: 'away', after: 1 })
    const hanging = watched(put('k'))
    store.heal()
    expect((await put('k')).kind).toBe('stored')
    await runtime.advance(60_000)
    expect(hanging()).toBe('nothing yet')
  })

  test('may be on from the start', async () => {
    const broken = faultyStore(inner, [{ kind: 'away', verbs: ['ping'] }])
    expect((await broken.ping()).kind).toBe('away')
  })

  test('befalls every verb, but closing only by name', async () => {
    store.inject({ kind: 'away' })
    const lease = { key: 'k' } as never
    const kinds = await Promise.all([
      store.read('k', json),
      store.acquire('k', { duration: 1000, seen: NO_VERSION, wake: false, tags: false }),
      store.renew(lease, 1),
      store.commit(lease, entry, json),
      store.release(lease, { kind: 'handover' }),
      put('k'),
      store.invalidate('k', 'delete', 0),
      store.invalidateTags(['t']),
      store.tagNumbers(['t']),
      store.clear(),
      store.inspect('k'),
      store.ping(),
    ])
    expect(new Set(kinds.map(({ kind }) => kind))).toEqual(new Set(['away']))
    const closed = jest.spyOn(inner, 'close')
    await store.close()
    expect(closed).toHaveBeenCalledTimes(1)
    store.inject({ kind: 'reject', verbs: ['close'] })
    await expect(store.close()).rejects.toThrow("'close'")
  })

  test.each([
    [{ kind: 'away', verbs: ['comit' as StoreVerb] }, 'fault.verbs'],
    [{ kind: 'away', after: -1 }, 'fault.after'],
    [{ kind: 'away', times: 0 }, 'fault.times'],
    [{ kind: 'late', ms: Number.NaN }, 'fault.ms'],
  ] as readonly (readonly [StoreFault, string])[])('%j is refused', (fault, option) => {
    expect(() => store.inject(fault)).toThrow(expect.objectContaining({ code: 'CATTLEGRID_INVALID_OPTION', option }))
  })
})

describe('a faulty store', () => {
  test('counts the calls of each verb, whatever became of them', async () => {
    await put('k')
    store.inject({ kind: 'away' })
    await put('k')
    store.inject({ kind: 'throw' })
    expect(() => put('k')).toThrow('contract')
    expect([store.countOf('put'), store.countOf('read')]).toEqual([3, 0])
  })

  test('under a cache: its loss is not noticed by who asks, and is told to who writes', async () => {
    const cache = createCache({ store, runtime, ttl: '1m', storeTimeout: 200 })
    let loads = 0
    const ask = (): Promise<number> => cache.getOrSet('k', () => (loads += 1))
    store.inject({ kind: 'hang' })
    const asked = Promise.all([ask(), ask()])
    await runtime.advance(1000)
    expect(await asked).toEqual([1, 1])
    const deleted = cache.delete('k').catch((error: unknown) => error)
    await runtime.advance(1000)
    expect(await deleted).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
  })
})
