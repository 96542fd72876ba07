import { strict as assert } from 'node:assert'
import {
  type Acquire,
  type AcquireRequest,
  type Entry,
  json,
  type Lease,
  type NewEntry,
  NO_VERSION,
  type Read,
  type Store,
} from '@cattlegrid/core'
import type { ContractRunner } from '../contract-runner.ts'

/** A store, empty, for one test. */
export interface StoreUnderTest {
  /** Another view of the same data, as another process has it; the same one again for a store that lives inside a process. */
  open(): Promise<Store>
  /** Lets this much time pass, or a little more: by a manual runtime, or by waiting. */
  advance(ms: number): Promise<void>
  /** The clock that the moments of its entries are on. */
  now(): number
  /** Closes every view and removes what the test has left. */
  stop(): Promise<void>
}

export type StoreFactory = () => Promise<StoreUnderTest>

/** What each part of the contract is told by. */
export interface StoreContract extends ContractRunner {
  readonly factory: StoreFactory
}

/** Two processes and their store. */
export interface Stage {
  readonly here: Store
  readonly there: Store
  advance(ms: number): Promise<void>
  now(): number
}

/** Plays one test on a store of its own. */
export async function onStage(factory: StoreFactory, play: (stage: Stage) => Promise<void>): Promise<void> {
  const store = await factory()
  try {
    const [here, there] = await Promise.all([store.open(), store.open()])
    await play({ here, there, advance: (ms) => store.advance(ms), now: () => store.now() })
  } finally {
    await store.stop()
  }
}

/** Longer than any test takes. */
export const LONG = 60_000
/** Several steps fit in it, and a test can wait it out. */
export const MEDIUM = 700
/** Soon over, where a test waits it out. */
export const SHORT = 120

/** An entry that lives long, unless told otherwise. */
export function entryOf(value: unknown, other: Partial<NewEntry> = {}): NewEntry {
  return { value, ttl: LONG, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 5, tags: [], ...other }
}

export function ask(store: Store, key: string, request: Partial<AcquireRequest> = {}): Promise<Acquire> {
  return store.acquire(key, { duration: LONG, seen: NO_VERSION, wake: false, tags: false, ...request })
}

/** The lease, or a failed test. */
export async function lead(store: Store, key: string, request: Partial<AcquireRequest> = {}): Promise<Lease> {
  const answer = await ask(store, key, request)
  assert.equal(answer.kind, 'lead', `expected the lease of ${shown(key)}`)
  return answer.lease
}

/** Loads and commits, as a leader does. */
export async function commit(store: Store, key: string, value: unknown, other: Partial<NewEntry> = {}): Promise<void> {
  const lease = await lead(store, key, { tags: (other.tags ?? []).length > 0 })
  assert.equal(wordOf(await store.commit(lease, entryOf(value, other), json)), 'stored')
}

/** As `commit`, and reads what is there then. */
export async function fill(store: Store, key: string, value: unknown, other: Partial<NewEntry> = {}): Promise<Entry> {
  await commit(store, key, value, other)
  return await found(store, key)
}

/** What is there, or a failed test. */
export async function found(store: Store, key: string): Promise<Entry> {
  const read = await readStanding(store, key)
  assert.equal(read.kind, 'found', `expected an entry at ${shown(key)}`)
  return read.entry
}

export async function missing(store: Store, key: string): Promise<void> {
  assert.equal((await readStanding(store, key)).kind, 'missing', `expected nothing at ${shown(key)}`)
}

/** What a reader has of the key: of an entry that carries a tag which has fallen, nothing. */
export async function readStanding(store: Store, key: string): Promise<Read> {
  const read = await store.read(key, json)
  if (read.kind !== 'found' || read.entry.tags.length === 0) return read
  const { tags, tagSeq, version } = read.entry
  const answer = await store.tagNumbers(tags)
  assert.equal(answer.kind, 'numbers')
  const stands = answer.numbers.every((number) => number !== undefined && number <= tagSeq)
  return stands ? read : { kind: 'missing', version }
}

/** The word of an answer, and with a refusal its reason. */
export function wordOf(answer: { readonly kind: string; readonly why?: string }): string {
  return answer.kind === 'refused' ? `refused: ${answer.why}` : answer.kind
}

function shown(key: string): string {
  return key.length > 60 ? `a key of ${key.length} characters` : JSON.stringify(key)
}
