import { describe, expect, it } from '@jest/globals'
import { json, memoryStore, type MemoryStoreOptions, type Store } from '@cattlegrid/core'
import { type NewEntry, NO_VERSION } from '@cattlegrid/core/extend'
import { createManualRuntime } from '@cattlegrid/testkit'

const open = (options: MemoryStoreOptions): Store => memoryStore({ runtime: createManualRuntime(), ...options })

function entryOf(value: string, tag: string): NewEntry {
  return { value, ttl: 60_000, staleWhileRevalidate: 60_000, staleIfError: 0, loadTime: 0, tags: [tag] }
}

describe('the numbers of tags in a memory store', () => {
  const tagged = async (store: Store, key: string, tag: string): Promise<void> => {
    await store.put(key, entryOf(key, tag), json)
  }
  const fall = async (store: Store, count: number, how: 'delete' | 'expire' = 'delete'): Promise<void> => {
    for (let index = 0; index < count; index += 1) await store.invalidateTags([`other:${index}`], how)
  }

  it('are bounded by maxEntries, and a forgotten one brings no entry back', async () => {
    const store = open({ maxEntries: 3 })
    await tagged(store, 'k', 'user:7')
    await store.invalidateTags(['user:7'], 'delete')
    expect(store.peek('k', json, 0)).toBeUndefined()
    await fall(store, 10)
    expect(store.peek('k', json, 0)).toBeUndefined()
    expect(await store.inspect('k')).toMatchObject({ kind: 'found', entry: undefined })
  })

  it('are checked again after each invalidation: a tag invalidated after an entry was found valid removes it all the same', async () => {
    const store = open({})
    await tagged(store, 'k', 'user:7')
    await fall(store, 1)
    expect(store.peek('k', json, 0)?.value).toBe('k')
    await store.invalidateTags(['user:7'], 'delete')
    expect(store.peek('k', json, 0)).toBeUndefined()
  })

  it('that no entry carries may be invalidated in any number: an entry with other tags stays', async () => {
    const store = open({ maxEntries: 3 })
    await tagged(store, 'k', 'user:7')
    await fall(store, 11)
    await store.invalidate('k', 'expire', 0)
    await fall(store, 11)
    expect(store.peek('k', json, 0)?.value).toBe('k')
    await store.invalidateTags(['user:7'], 'delete')
    expect(store.peek('k', json, 0)).toBeUndefined()
  })

  it('stand as long as an entry carries them', async () => {
    const store = open({ maxEntries: 3 })
    for (const key of ['a', 'b']) await tagged(store, key, 'user:7')
    await store.invalidate('a', 'delete', 0)
    await fall(store, 11)
    expect(store.peek('b', json, 0)?.value).toBe('b')
    await store.clear()
    await tagged(store, 'b', 'user:7')
    await fall(store, 11)
    await store.invalidateTags(['user:7'], 'delete')
    expect(store.peek('b', json, 0)).toBeUndefined()
  })

  it('that were forgotten do not affect what is loaded later', async () => {
    const store = open({ maxEntries: 3 })
    await store.invalidateTags(['user:7'], 'delete')
    await fall(store, 10)
    await tagged(store, 'k', 'user:7')
    expect(store.peek('k', json, 0)?.value).toBe('k')
  })

  it('that were forgotten refuse a load that began before', async () => {
    const store = open({ maxEntries: 3 })
    const answer = await store.acquire('k', { duration: 5000, seen: NO_VERSION, wake: false })
    await store.invalidateTags(['user:7'], 'delete')
    await fall(store, 10)
    if (answer.kind !== 'lead') throw new Error('The lease was not granted')
    const commit = await store.commit(answer.lease, entryOf('old', 'user:7'), json)
    expect(commit).toEqual({ kind: 'refused', why: 'tag-voided' })
  })

  it('that were expired and forgotten refuse a load that began before', async () => {
    const store = open({ maxEntries: 3 })
    const answer = await store.acquire('k', { duration: 5000, seen: NO_VERSION, wake: false })
    await store.invalidateTags(['user:7'], 'expire')
    await fall(store, 10, 'expire')
    if (answer.kind !== 'lead') throw new Error('The lease was not granted')
    const commit = await store.commit(answer.lease, entryOf('old', 'user:7'), json)
    expect(commit).toEqual({ kind: 'refused', why: 'tag-voided' })
  })

  it('leave an expired entry in its place: one object, with its version and its promise', async () => {
    const store = open({})
    await tagged(store, 'k', 'user:7')
    const before = store.peek('k', json, 0)
    await store.invalidateTags(['user:7'], 'expire')
    expect(store.peek('k', json, 0)).toBe(before)
    expect(before).toMatchObject({ expired: true })
  })

  it('keep an expired entry stale whatever other tags are invalidated', async () => {
    const store = open({ maxEntries: 3 })
    await tagged(store, 'k', 'user:7')
    await store.invalidateTags(['user:7'], 'expire')
    await fall(store, 11)
    expect(store.peek('k', json, 0)).toMatchObject({ value: 'k', expired: true })
  })
})
