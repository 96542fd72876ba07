import {
  type Cache,
  type CacheEvents,
  type CacheOptions,
  createCache,
  type Load,
  memoryStore,
  type Store,
} from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

/** Several caches over one store, as several processes have them, in time that only the test moves. */
export interface Fleet {
  readonly runtime: ManualRuntime
  readonly store: Store
  readonly caches: readonly [Cache, Cache, Cache]
  /** Whether notices get lost, as on a broken connection. */
  muted: boolean
}

export function createFleet(options: CacheOptions = {}): Fleet {
  const runtime = createManualRuntime()
  // Without a sweep: the pending timers that tests count are those of calls.
  const store = memoryStore({ runtime: { ...runtime, schedule: () => () => undefined } })
  // No jitter between the followers of a lease, so that every moment in a test is exact.
  runtime.setRandom([0])
  const fleet = { runtime, store, muted: false }
  const watch = store.watch.bind(store)
  store.watch = (listener) => watch((notice) => !fleet.muted && listener(notice))
  const join = (): Cache => createCache({ store, runtime, ttl: '10s', ...options })
  return Object.assign(fleet, { caches: [join(), join(), join()] as const })
}

/** The next value that is to be committed is too large to be kept. */
export function refuseNextCommit(store: Store): void {
  const { commit } = store
  store.commit = () => {
    store.commit = commit
    return Promise.resolve({ kind: 'unkeepable', why: 'too-large', cause: new RangeError('too large') })
  }
}

/** A source whose every load ends when the test says so. */
export class Origin {
  readonly loads: {
    readonly load: Load
    readonly resolve: (value: unknown) => void
    readonly reject: (error: unknown) => void
  }[] = []

  readonly loader = (load: Load): Promise<string> =>
    new Promise((resolve, reject) => {
      this.loads.push({ load, resolve: resolve as (value: unknown) => void, reject })
    })

  get count(): number {
    return this.loads.length
  }

  /** The load that began last. */
  get last(): (typeof this.loads)[number] {
    const last = this.loads.at(-1)
    if (last === undefined) throw new Error('The origin was not asked')
    return last
  }
}

/** The names of the events of a cache, in their order. */
export function trace(cache: Cache, ...names: readonly (keyof CacheEvents)[]): string[] {
  const seen: string[] = []
  for (const name of names) cache.on(name, () => seen.push(name))
  return seen
}

/** Lets everything that is due at this moment happen. */
export async function settle({ runtime }: Fleet): Promise<void> {
  await runtime.advance(0)
}

/** The events of a cache that have one of these names, with the fields that differ from one step to another, in their order. */
export function record(cache: Cache, ...names: readonly (keyof CacheEvents)[]): (readonly [string, unknown])[] {
  const seen: (readonly [string, unknown])[] = []
  for (const name of names)
    cache.on(name, (event) => {
      const { type: _type, cache: _cache, ...fields } = event
      const {
        flight: _flight,
        call: _call,
        lease: _lease,
        ...others
      } = fields as {
        readonly flight?: number
        readonly call?: number
        readonly lease?: string
      }
      seen.push([name, others])
    })
  return seen
}

/** What a call rejects with; handled from now on, so that a test may let time pass before it looks. */
export function rejection(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => {
      throw new Error(`The call was answered with ${String(value)}`)
    },
    (error: unknown) => error,
  )
}

/** Holds the next call of a store method back until `letGo`. */
export function holdBack<K extends 'read' | 'acquire'>(fleet: Fleet, step: K): { letGo(): void } {
  const real = fleet.store[step].bind(fleet.store) as (...args: unknown[]) => Promise<unknown>
  let letGo = (): void => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  const held = async (...args: unknown[]): Promise<unknown> => {
    Object.assign(fleet.store, { [step]: real })
    await gate
    return await real(...args)
  }
  Object.assign(fleet.store, { [step]: held })
  return { letGo: () => letGo() }
}

/** Counts the reads and acquires of the store. */
export function countRequests({ store }: Fleet): { count: number } {
  const requests = { count: 0 }
  const { read, acquire } = store
  store.read = (...args) => {
    requests.count += 1
    return read.apply(store, args)
  }
  store.acquire = (...args) => {
    requests.count += 1
    return acquire.apply(store, args)
  }
  return requests
}
