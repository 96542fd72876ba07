import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type Codec, json, memoryStore, type MemoryStoreOptions, type Store } from '@cattlegrid/core'
import { type Acquire, type Lease, type NewEntry, NO_VERSION } from '@cattlegrid/core/extend'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

let runtime: ManualRuntime

beforeEach(() => {
  runtime = createManualRuntime()
})

const open = (options: MemoryStoreOptions): Store => memoryStore({ runtime, ...options })

function entryOf(value: unknown, other: Partial<NewEntry> = {}): NewEntry {
  return { value, ttl: 60_000, staleWhileRevalidate: 60_000, staleIfError: 0, loadTime: 0, tags: [], ...other }
}

async function put(store: Store, key: string, value: unknown = key, codec: Codec = json): Promise<string> {
  return (await store.put(key, entryOf(value), codec)).kind
}

function acquire(store: Store, key: string, seen = NO_VERSION): Promise<Acquire> {
  return store.acquire(key, { duration: 5000, seen, wake: false })
}

async function lead(store: Store, key: string, seen?: string): Promise<Lease> {
  const answer = await acquire(store, key, seen)
  if (answer.kind !== 'lead') throw new Error(`The lease of ${key} was not granted: ${answer.kind}`)
  return answer.lease
}

/** Which of the keys have an entry; by `inspect`, last of all, because a read is a use. */
async function kept(store: Store, ...keys: readonly string[]): Promise<string[]> {
  const found = await Promise.all(keys.map((key) => store.inspect(key)))
  return keys.filter((_, index) => found[index]?.kind === 'found' && found[index].entry !== undefined)
}

describe('a memory store', () => {
  it('is seen by no other process, and shares nothing with another memory store', async () => {
    const [one, other] = [open({}), open({})]
    await put(one, 'k')
    expect(one.shared).toBe(false)
    expect(await kept(other, 'k')).toEqual([])
  })

  it('keeps the very object that it was given', async () => {
    const store = open({})
    const value = { stock: 3 }
    await put(store, 'k', value)
    expect(store.peek('k', json, 0)?.value).toBe(value)
  })

  it('may be shared by several caches: one that closes leaves the others their notices', async () => {
    const store = open({})
    const [closing, staying] = [jest.fn(), jest.fn()]
    const stop = store.watch(closing)
    store.watch(staying)
    stop()
    await store.close()
    await put(store, 'k')
    expect(closing).not.toHaveBeenCalled()
    expect(staying).toHaveBeenCalledTimes(1)
  })
})

describe('maxEntries', () => {
  it('bounds the keys, whatever the steps', async () => {
    const store = open({ maxEntries: 100 })
    for (let index = 0; index < 1000; index += 1) await put(store, `k${index}`)
    expect(await store.clear()).toEqual({ kind: 'cleared', entries: 100 })
  })

  it('evicts no lease that is renewed', async () => {
    const store = open({ maxEntries: 16 })
    const lease = await lead(store, 'slow')
    for (let key = 0; key < 64; key += 1) {
      await put(store, String(key))
      expect(await store.renew(lease, 5000)).toEqual({ kind: 'renewed' })
    }
    expect(await store.commit(lease, entryOf('loaded'), json)).toMatchObject({ kind: 'stored' })
  })

  it('is 10,000 by default', async () => {
    const store = open({})
    for (let index = 0; index <= 10_000; index += 1) await put(store, `k${index}`)
    expect(await kept(store, 'k0', 'k1', 'k10000')).toEqual(['k1', 'k10000'])
  })

  it.each([
    ['peek', (store: Store) => store.peek('a', json, 0)],
    ['read', (store: Store) => store.read('a', json)],
    ['put', (store: Store) => put(store, 'a', 'again')],
  ])('evicts the least recently used key first, and a %s is a use', async (_, use) => {
    const store = open({ maxEntries: 3 })
    for (const key of ['a', 'b', 'c']) await put(store, key)
    await use(store)
    await put(store, 'd')
    expect(await kept(store, 'a', 'b', 'c', 'd')).toEqual(['a', 'c', 'd'])
  })

  it('takes no lease: more keys may be in flight than entries are kept', async () => {
    const store = open({ maxEntries: 2 })
    const leases = []
    for (let key = 0; key < 20; key += 1) leases.push(await lead(store, String(key)))
    expect(await acquire(store, '0')).toMatchObject({ kind: 'held' })
    for (const lease of leases) {
      expect(await store.renew(lease, 5000)).toEqual({ kind: 'renewed' })
      expect(await store.commit(lease, entryOf('loaded'), json)).toMatchObject({ kind: 'stored' })
    }
    expect(await kept(store, '0', '17', '18', '19')).toEqual(['18', '19'])
  })

  it('takes no lease with the entry of its key, and no lease takes the place of an entry', async () => {
    const store = open({ maxEntries: 1 })
    await put(store, 'a')
    const lease = await lead(store, 'a', store.peek('a', json, 0)?.version)
    await lead(store, 'b')
    expect(await kept(store, 'a')).toEqual(['a'])
    await put(store, 'c')
    expect(await store.inspect('a')).toMatchObject({ entry: undefined, lease: { remaining: 5000 } })
    expect(await store.commit(lease, entryOf('in time'), json)).toMatchObject({ kind: 'stored' })
    expect(store.peek('a', json, 0)?.value).toBe('in time')
  })
})

describe('maxBytes', () => {
  const bytes = (size: number): string => 'v'.repeat(size)
  const sizeOf = (value: unknown): number => String(value).length

  it('bounds the bytes of all values together', async () => {
    const store = open({ maxBytes: 100, sizeOf })
    for (const key of ['a', 'b']) await put(store, key, bytes(50))
    expect(await kept(store, 'a', 'b')).toEqual(['a', 'b'])
    await put(store, 'c', bytes(3))
    expect(await kept(store, 'a', 'b', 'c')).toEqual(['b', 'c'])
  })

  it('keeps no value that is larger by itself, and leaves what was there', async () => {
    const store = open({ maxBytes: '1kb', sizeOf })
    await put(store, 'k', 'small')
    const answer = await store.put('k', entryOf(bytes(1025)), json)
    expect(answer).toMatchObject({ kind: 'unkeepable', why: 'too-large' })
    expect(answer).toHaveProperty('cause.message', expect.stringContaining('1025 bytes are more than maxBytes (1024)'))
    expect(store.peek('k', json, 0)?.value).toBe('small')
  })

  it('leaves the lease with a leader whose value is too large', async () => {
    const store = open({ maxBytes: 10, sizeOf })
    const lease = await lead(store, 'k')
    expect(await store.commit(lease, entryOf(bytes(11)), json)).toMatchObject({ kind: 'unkeepable', why: 'too-large' })
    expect(await store.release(lease, { kind: 'handover' })).toEqual({ kind: 'released' })
  })

  it('measures a value at each write', async () => {
    const store = open({ maxBytes: 100, sizeOf })
    await put(store, 'a', bytes(90))
    await put(store, 'a', bytes(50))
    await put(store, 'b', bytes(50))
    expect(await kept(store, 'a', 'b')).toEqual(['a', 'b'])
  })

  it('is freed by a deletion', async () => {
    const store = open({ maxBytes: 100, sizeOf })
    await put(store, 'a', bytes(50))
    await put(store, 'b', bytes(50))
    await store.invalidate('b', 'delete', 0)
    await put(store, 'c', bytes(50))
    expect(await kept(store, 'a', 'b', 'c')).toEqual(['a', 'c'])
  })

  it.each([
    ['is being refreshed', (store: Store) => lead(store, 'a', store.peek('a', json, 0)?.version)],
    ['was expired', (store: Store) => store.invalidate('a', 'expire', 0)],
    ['is held off', (store: Store) => store.invalidate('a', 'expire', 1000)],
  ])('still counts a value that %s', async (_, change) => {
    const store = open({ maxBytes: 100, sizeOf })
    await put(store, 'a', bytes(60))
    await change(store)
    expect(await kept(store, 'a')).toEqual(['a'])
    await put(store, 'b', bytes(60))
    expect(await kept(store, 'a', 'b')).toEqual(['b'])
  })

  it('is 64 MB by default, of what the entries hold in memory', async () => {
    const store = open({})
    const view = (megabytes: number): Uint8Array => new Uint8Array(megabytes * 1024 ** 2).subarray(0, 1)
    expect(await put(store, 'large', view(64))).toBe('unkeepable')
    for (const key of ['a', 'b', 'c']) await put(store, key, view(30))
    expect(await kept(store, 'a', 'b', 'c')).toEqual(['b', 'c'])
  })

  it('counts the key and the tags of an entry', async () => {
    const store = open({ maxBytes: '100kb' })
    await put(store, 'a')
    await store.put('b', entryOf(1, { tags: ['t'.repeat(30_000)] }), json)
    await put(store, 'k'.repeat(20_600), 1)
    expect(await kept(store, 'a', 'b')).toEqual(['b'])
  })

  it('counts what a cooldown keeps of an error', async () => {
    const store = open({ maxBytes: '100kb' })
    await put(store, 'a')
    const failure = { name: 'Error', message: 'm'.repeat(101_000) }
    await store.release(await lead(store, 'b'), { kind: 'failed', failure, cooldown: 100, attempts: 1 })
    await put(store, 'c')
    expect(await kept(store, 'a', 'c')).toEqual(['c'])
  })

  it('is measured without the codec: a value that it could not encode is kept', async () => {
    expect(await put(open({ maxBytes: '1kb' }), 'k', 7n)).toBe('stored')
  })
})

describe('sizeOf', () => {
  it('measures a value in place of the estimate', async () => {
    const sizeOf = jest.fn((value: unknown) => (value === 'heavy' ? 60 : 40))
    const store = open({ maxBytes: 100, sizeOf })
    await put(store, 'a', 'heavy')
    await put(store, 'b', 'light')
    expect(await kept(store, 'a', 'b')).toEqual(['a', 'b'])
    await put(store, 'c', 7n)
    expect(await kept(store, 'a', 'b', 'c')).toEqual(['b', 'c'])
    expect(sizeOf.mock.calls).toEqual([['heavy'], ['light'], [7n]])
  })

  it('that throws makes the value unkeepable; the store does not fail', async () => {
    const cause = new Error('no size')
    const store = open({
      maxBytes: 100,
      sizeOf: () => {
        throw cause
      },
    })
    expect(await store.put('k', entryOf(7), json)).toEqual({ kind: 'unkeepable', why: 'encode-failed', cause })
  })

  it.each([Number.NaN, -1, undefined, '7 bytes'])(
    'that returns %p makes the value unkeepable, with an error that names sizeOf',
    async (size) => {
      const store = open({ maxBytes: 100, sizeOf: () => size as number })
      const answer = await store.put('k', entryOf(7), json)
      expect(answer).toMatchObject({ kind: 'unkeepable', why: 'encode-failed' })
      expect(answer).toHaveProperty('cause.message', expect.stringContaining('sizeOf'))
    },
  )
})
