import { strict as assert } from 'node:assert'
import { json, type Store } from '@cattlegrid/core'
import { type Entry, judgeTags, type Lease, type NewEntry, NO_VERSION } from '@cattlegrid/core/extend'

export const LONG = 60_000

export function entryOf(value: unknown, other: Partial<NewEntry> = {}): NewEntry {
  return { value, ttl: LONG, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 1, tags: [], ...other }
}

export const request = { duration: LONG, seen: NO_VERSION, wake: false }

export async function lead(store: Store, key: string, other: Partial<typeof request> = {}): Promise<Lease> {
  const answer = await store.acquire(key, { ...request, ...other })
  assert.equal(answer.kind, 'lead')
  return answer.lease
}

export async function found(store: Store, key: string): Promise<Entry> {
  const read = await store.read(key, json)
  assert.equal(read.kind, 'found')
  return read.entry
}

/** As an engine judges it at this moment. */
export async function isFresh(store: Store, key: string): Promise<boolean> {
  return (await found(store, key)).freshUntil > performance.now()
}

export async function put(store: Store, key: string, value: unknown, other: Partial<NewEntry> = {}): Promise<void> {
  assert.equal((await store.put(key, entryOf(value, other), json)).kind, 'stored')
}

/** Whether no tag of the entry was invalidated, as a reader judges it. */
export async function hasValidTags(store: Store, key: string): Promise<boolean> {
  return (await judged(store, key)) !== undefined
}

/** The entry as its tags leave it; undefined where they make it unusable. */
export async function judged(store: Store, key: string): Promise<Entry | undefined> {
  const entry = await found(store, key)
  const answer = await store.tagNumbers(entry.tags)
  assert.equal(answer.kind, 'numbers')
  return judgeTags(entry, answer.numbers)
}
