import { describe, expect, it } from '@jest/globals'
import { type Acquire, type Cache, createCache, memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { Origin } from './fleet.ts'

type Step = 'read' | 'acquire' | 'commit' | 'put' | 'invalidate' | 'clear'

interface Remote {
  readonly runtime: ManualRuntime
  readonly store: Store
  readonly cache: Cache
  /** How long each step takes, ms; Infinity: it is never answered. */
  readonly delays: Partial<Record<Step, number>>
}

/** A cache on a store that others see, too, and that takes its time. */
function createRemote(): Remote {
  const runtime = createManualRuntime()
  runtime.setRandom([0])
  const store = memoryStore({ runtime })
  const delays: Remote['delays'] = {}
  const slow =
    <A extends unknown[], R>(step: Step, real: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const delay = delays[step] ?? 0
      if (delay === Infinity) return await new Promise<R>(() => {})
      if (delay > 0) await new Promise<void>((resolve) => runtime.schedule(resolve, delay))
      return await real.apply(store, args)
    }
  const remote: Store = {
    shared: true,
    peek: () => undefined,
    read: slow('read', store.read),
    acquire: slow('acquire', store.acquire),
    renew: store.renew.bind(store),
    commit: slow('commit', store.commit),
    release: store.release.bind(store),
    put: slow('put', store.put),
    invalidate: slow('invalidate', store.invalidate),
    invalidateTags: store.invalidateTags.bind(store),
    clear: slow('clear', store.clear),
    inspect: store.inspect.bind(store),
    watch: store.watch.bind(store),
    close: store.close.bind(store),
  }
  return { runtime, store, delays, cache: createCache({ store: remote, runtime, ttl: '10s', storeTimeout: '250ms' }) }
}

const ask = (store: Store): Promise<Acquire> =>
  store.acquire('k', { duration: 1000, seen: '', wake: false, tags: false })

describe('a shared store that does not answer', () => {
  it.each(['read', 'acquire'] as const)('at %s is gone on without after storeTimeout, with one load', async (step) => {
    const { cache, runtime, delays } = createRemote()
    delays[step] = Infinity
    const origin = new Origin()
    const calls = [cache.lookup('k', origin.loader), cache.lookup('k', origin.loader)]
    await runtime.advance(320)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    expect(await calls[0]).toMatchObject({ value: 'value', outcome: { kind: 'abandoned', why: 'away' } })
    expect(await calls[1]).toMatchObject({ value: 'value' })
  })

  it('at a commit is waited for four times as long, behind its callers', async () => {
    const { cache, runtime, delays } = createRemote()
    delays.commit = 900
    const call = cache.lookup('k', () => 'value')
    await runtime.advance(950)
    expect(await call).toMatchObject({ outcome: { kind: 'committed' } })
    delays.commit = Infinity
    const hung = cache.lookup('other', () => 'value')
    await runtime.advance(1320)
    expect(await hung).toMatchObject({ outcome: { kind: 'abandoned', why: 'away' } })
  })

  it.each(['set', 'delete', 'clear'] as const)('at %s makes it reject', async (verb) => {
    const { cache, runtime, delays } = createRemote()
    Object.assign(delays, { put: Infinity, invalidate: Infinity, clear: Infinity })
    const call = verb === 'set' ? cache.set('k', 1) : verb === 'delete' ? cache.delete('k') : cache.clear()
    const settled = Promise.allSettled([call])
    await runtime.advance(120 * 320)
    expect((await settled)[0]).toMatchObject({ reason: { code: 'CATTLEGRID_STORE_AWAY' } })
  })

  it('and grants a lease too late gets it back, since nobody else would end it', async () => {
    const { cache, runtime, delays, store } = createRemote()
    delays.acquire = 400
    const call = cache.getOrSet('k', () => 'alone')
    await runtime.advance(320)
    expect(await call).toBe('alone')
    await runtime.advance(100)
    expect(await ask(store)).toMatchObject({ kind: 'lead' })
  })

  it('leaves no timer behind', async () => {
    const { cache, runtime, delays } = createRemote()
    delays.read = Infinity
    const call = cache.getOrSet('k', () => 'value')
    await runtime.advance(320)
    expect(await call).toBe('value')
    await runtime.advance(320)
    expect(runtime.pendingTimers).toBe(0)
  })
})

describe('a step of a shared store', () => {
  it('has the whole of its time, however many steps were answered just before', async () => {
    const { cache, runtime, delays } = createRemote()
    await cache.set('k', 'kept')
    for (let count = 0; count < 20; count += 1) expect(await cache.get('k')).toBe('kept')
    delays.read = 200
    const slow = cache.get('k')
    await runtime.advance(200)
    expect(await slow).toBe('kept')
  })

  it('that was answered is timed no more', async () => {
    const { cache, runtime } = createRemote()
    await cache.set('k', 'kept')
    expect(await cache.get('k')).toBe('kept')
    await runtime.advance(60)
    expect(runtime.pendingTimers).toBe(0)
  })
})
