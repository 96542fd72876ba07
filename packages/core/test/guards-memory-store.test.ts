import { describe, expect, it } from '@jest/globals'
import { json, memoryStore, type MemoryStoreOptions, type NewEntry, type Store } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'

function storeOf(options: MemoryStoreOptions): Store {
  return memoryStore({ runtime: createManualRuntime(), ...options })
}

function entryOf(value: unknown, tags: readonly string[] = []): NewEntry {
  return { value, ttl: 10_000, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 0, tags }
}

async function keys(store: Store, ...asked: readonly string[]): Promise<string[]> {
  const reads = await Promise.all(asked.map((key) => store.read(key, json)))
  return asked.filter((_, index) => reads[index]?.kind === 'found')
}

describe('a full memory store', () => {
  it('keeps the entries that were used last', async () => {
    const store = storeOf({ maxEntries: 2 })
    await store.put('a', entryOf(1), json)
    await store.put('b', entryOf(2), json)
    store.peek('a')
    await store.put('c', entryOf(3), json)
    expect(await keys(store, 'a', 'b', 'c')).toEqual(['a', 'c'])
  })

  it('counts as fallen every tag that it had to forget, and lets nothing back that carried it', async () => {
    const store = storeOf({ maxEntries: 2 })
    await store.put('k', entryOf(1, ['forgotten']), json)
    for (const tag of ['forgotten', 'b', 'c', 'd']) await store.invalidateTags([tag])
    expect(await keys(store, 'k')).toEqual([])
  })

  it('forgets no tag that merely falls again', async () => {
    const store = storeOf({ maxEntries: 2 })
    await store.put('k', entryOf(1, ['t']), json)
    await store.invalidateTags(['other'])
    await store.invalidateTags(['other'])
    await store.invalidateTags(['other'])
    expect(await keys(store, 'k')).toEqual(['k'])
  })
})

describe('a memory store with maxBytes', () => {
  const sizeOf = (value: unknown): number => Number(value)

  it('keeps no more than that, by the size of its values', async () => {
    const store = storeOf({ maxBytes: 100, sizeOf })
    await store.put('a', entryOf(60), json)
    await store.put('b', entryOf(40), json)
    expect(await keys(store, 'a', 'b')).toEqual(['a', 'b'])
    await store.put('c', entryOf(10), json)
    expect(await keys(store, 'a', 'b', 'c')).toEqual(['b', 'c'])
  })

  it('measures by the codec when nobody tells it how', async () => {
    const store = storeOf({ maxBytes: 10 })
    expect(await store.put('k', entryOf('12345678'), json)).toMatchObject({ kind: 'stored' })
    expect(await store.put('k', entryOf('123456789'), json)).toMatchObject({ kind: 'unkeepable', why: 'too-large' })
  })

  it('turns a value away that is larger than all of it, and keeps what is there', async () => {
    const store = storeOf({ maxBytes: 100, sizeOf })
    await store.put('a', entryOf(60), json)
    expect(await store.put('b', entryOf(101), json)).toMatchObject({ kind: 'unkeepable', why: 'too-large' })
    expect(await keys(store, 'a', 'b')).toEqual(['a'])
  })

  it('forgets no weight while a value is refreshed', async () => {
    const store = storeOf({ maxBytes: 100, sizeOf })
    const put = await store.put('a', entryOf(60), json)
    const seen = put.kind === 'stored' ? put.version : ''
    expect(await store.acquire('a', { duration: 5000, seen, wake: false, tags: false })).toMatchObject({ kind: 'lead' })
    await store.put('b', entryOf(60), json)
    expect(await keys(store, 'a', 'b')).toEqual(['b'])
  })

  it('answers for a value that cannot be measured', async () => {
    const store = storeOf({ maxBytes: 100 })
    expect(await store.put('k', entryOf(10n), json)).toMatchObject({ kind: 'unkeepable', why: 'encode-failed' })
  })
})
