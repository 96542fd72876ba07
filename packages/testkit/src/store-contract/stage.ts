import { strict as assert } from 'node:assert'
import { json, type Store } from '@cattlegrid/core'
import {
  type Acquire,
  type AcquireRequest,
  type Entry,
  judgeTags,
  type Lease,
  type NewEntry,
  NO_VERSION,
  type Read,
} from '@cattlegrid/core/extend'
import type { ContractRunner } from '../contract-runner.ts'

/** An empty store for one test. */
export interface StoreUnderTest {
  /**
   * Opens a connection to the same data, as another process would. A store that lives inside one process
   * returns the same object each time.
   */
  open(): Promise<Store>
  /** Lets this much time pass, or a little more: moves a manual runtime, or waits. */
  advance(ms: number): Promise<void>
  /** The current time on the clock of `committedAt` and `freshUntil`. */
  now(): number
  /** Closes every connection and removes the data that the test has left. */
  stop(): Promise<void>
}

/** Opens an empty store. */
export type StoreFactory = () => Promise<StoreUnderTest>

/** The arguments of each part of the contract. */
export interface StoreContract extends ContractRunner {
  readonly factory: StoreFactory
}

/** Two connections to one store, as two processes have them. */
export interface Stage {
  readonly here: Store
  readonly there: Store
  advance(ms: number): Promise<void>
  now(): number
}

/** Runs one test on a store that no other test uses. */
export async function onStage(factory: StoreFactory, play: (stage: Stage) => Promise<void>): Promise<void> {
  const store = await factory()
  try {
    const [here, there] = await Promise.all([store.open(), store.open()])
    await play({ here, there, advance: (ms) => store.advance(ms), now: () => store.now() })
  } finally {
    await store.stop()
  }
}

/** Longer than any test runs. */
export const LONG = 60_000
/** Long enough for several steps, short enough for a test to wait for its end. */
export const MEDIUM = 700
/** As short as possible: a test waits for its end. */
export const SHORT = 120

/** An entry that stays fresh for `LONG`, unless `other` says something else. */
export function entryOf(value: unknown, other: Partial<NewEntry> = {}): NewEntry {
  return { value, ttl: LONG, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 5, tags: [], ...other }
}

export function ask(store: Store, key: string, request: Partial<AcquireRequest> = {}): Promise<Acquire> {
  return store.acquire(key, { duration: LONG, seen: NO_VERSION, wake: false, ...request })
}

/** Acquires the lease; fails the test if the store grants none. */
export async function lead(store: Store, key: string, request: Partial<AcquireRequest> = {}): Promise<Lease> {
  const answer = await ask(store, key, request)
  assert.equal(answer.kind, 'lead', `expected the lease of ${shown(key)}`)
  return answer.lease
}

/** Loads and commits, as a leader does. */
export async function commit(store: Store, key: string, value: unknown, other: Partial<NewEntry> = {}): Promise<void> {
  const lease = await lead(store, key)
  assert.equal(outcomeOf(await store.commit(lease, entryOf(value, other), json)), 'stored')
}

/** As `commit`, then reads the entry. */
export async function fill(store: Store, key: string, value: unknown, other: Partial<NewEntry> = {}): Promise<Entry> {
  await commit(store, key, value, other)
  return await found(store, key)
}

/** Reads the entry; fails the test if there is none. */
export async function found(store: Store, key: string): Promise<Entry> {
  const read = await readStanding(store, key)
  assert.equal(read.kind, 'found', `expected an entry at ${shown(key)}`)
  return read.entry
}

export async function missing(store: Store, key: string): Promise<void> {
  assert.equal((await readStanding(store, key)).kind, 'missing', `expected nothing at ${shown(key)}`)
}

/**
 * Reads as the engine does: an entry with an invalidated tag counts as missing, and one with an expired tag
 * as stale.
 */
export async function readStanding(store: Store, key: string): Promise<Read> {
  const read = await store.read(key, json)
  if (read.kind !== 'found' || read.entry.tags.length === 0) return read
  const { tags, version } = read.entry
  const answer = await store.tagNumbers(tags)
  assert.equal(answer.kind, 'numbers')
  const entry = judgeTags(read.entry, answer.numbers)
  return entry === undefined ? { kind: 'missing', version } : { kind: 'found', entry }
}

/** The `kind` of a result, and the reason if it is a refusal. */
export function outcomeOf(answer: { readonly kind: string; readonly why?: string }): string {
  return answer.kind === 'refused' ? `refused: ${answer.why}` : answer.kind
}

function shown(key: string): string {
  return key.length > 60 ? `a key of ${key.length} characters` : JSON.stringify(key)
}
