import { type Cache, type CacheOptions, createCache, memoryStore, type Store } from '@cattlegrid/core'
import type { Notice } from '@cattlegrid/core/extend'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

/** Two caches over one store, as two processes would have it, and what a test may do to that store. */
export interface Pair {
  readonly cache: Cache
  readonly other: Cache
  readonly runtime: ManualRuntime
  readonly store: Store
  /** Sends a notice of the store to both caches. */
  notify(notice: Notice): void
}

export function pairOfCaches(options: CacheOptions = {}): Pair {
  const runtime = createManualRuntime()
  const store = memoryStore({ runtime })
  const listeners: ((notice: Notice) => void)[] = []
  const { watch } = store
  store.watch = (listener) => {
    listeners.push(listener)
    return watch.call(store, listener)
  }
  const all: CacheOptions = {
    ttl: '10s',
    staleWhileRevalidate: '10s',
    staleIfError: '1h',
    softTimeout: false,
    failureCooldown: { min: '1s', max: '1s' },
    lease: { duration: '3s' },
    store,
    runtime,
    ...options,
  }
  const notify = (notice: Notice): void => {
    for (const listener of listeners) listener(notice)
  }
  return {
    cache: createCache({ ...all, name: 'one' }),
    other: createCache({ ...all, name: 'two' }),
    runtime,
    store,
    notify,
  }
}

/** A loader that takes so long. */
function slow(runtime: ManualRuntime, value: string, time: number): () => Promise<string> {
  return () => new Promise((resolve) => runtime.schedule(() => resolve(value), time))
}

const down = (): never => {
  throw new TypeError('down')
}

/** Drives `cache` through every outcome of a call, a load and a lease. Takes 200 ms of load for what is committed first. */
export async function playEveryOutcome({ cache, other, runtime, store, notify }: Pair): Promise<void> {
  const ignored = (call: Promise<unknown>): Promise<unknown> => call.catch(() => undefined)
  const led = [cache.getOrSet('k', slow(runtime, 'v1', 200)), cache.getOrSet('k', down)]
  await runtime.advance(200)
  await Promise.all(led)
  await cache.getOrSet('k', down)
  await runtime.advance(12_000)
  await cache.getOrSet('k', slow(runtime, 'v2', 200))
  await runtime.advance(200)
  await runtime.advance(25_000)
  // Older than staleWhileRevalidate: the value is served because the load fails, and then because the key cools down.
  await cache.getOrSet('k', down)
  await cache.getOrSet('k', down)
  await ignored(cache.getOrSet('bad', down))
  await ignored(cache.getOrSet('bad', down))
  await cache.lookup('voided', () => cache.delete('voided'))
  await cache.lookup('hers', (load) => load.uncacheable({ share: false, why: 'personal' }))
  await cache.lookup('busy', (load) => load.uncacheable({ for: 1, why: 'set-cookie' }))
  await playTakeover()
  await playLostLease()
  const { read } = store
  store.read = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('refused') })
  await cache.getOrSet('unreached', () => 'alone')
  store.read = read
  notify({ kind: 'away' })
  notify({ kind: 'disconnected' })
  await runtime.advance(3000)
  notify({ kind: 'connected' })
  await cache.set('written', 1)
  await cache.invalidateTags(['tag'])

  /** `other` leads and hands its lease over; `cache` has waited for that, once in vain. */
  async function playTakeover(): Promise<void> {
    const leading = ignored(
      other.getOrSet(
        'handed',
        () => new Promise((_, reject) => runtime.schedule(() => reject(new Error('not mine')), 2000)),
        {
          isFailure: () => false,
        },
      ),
    )
    await runtime.advance(0)
    const inVain = ignored(cache.with({ waitTimeout: '1s' }).getOrSet('handed', down))
    await runtime.advance(1000)
    const following = cache.getOrSet('handed', () => 'taken over')
    await runtime.advance(1500)
    await Promise.all([leading, inVain, following])
  }

  /** The store refuses a renewal, and then breaks its contract: it accepts the commit. */
  async function playLostLease(): Promise<void> {
    const { renew } = store
    store.renew = () => Promise.resolve({ kind: 'refused', why: 'taken' })
    const lost = cache.getOrSet('lost', slow(runtime, 'late', 2000))
    await runtime.advance(2000)
    await lost
    await runtime.advance(0)
    store.renew = renew
  }
}
