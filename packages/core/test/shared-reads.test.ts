import { describe, expect, it } from '@jest/globals'
import { type Codec, json, structured } from '@cattlegrid/core'
import { type ReadSlot, SharedReads } from '../src/flight/shared-reads.ts'
import type { Read } from '../src/store/store.ts'
import { createFleet, type Fleet, settle } from './fleet.ts'

const unending: Promise<Read> = new Promise(() => {})

function begin(slots: SharedReads, key: string): ReadSlot {
  return slots.begin(key, slots.slotOf(key), json, unending)
}

function beginAndEnd(slots: SharedReads, key: string): void {
  slots.end(begin(slots, key))
}

/** Holds every read back until the test releases it, and disables hits from memory. */
function slowReads(fleet: Fleet): (() => void)[] {
  const letGo: (() => void)[] = []
  const { read } = fleet.store
  fleet.store.peek = () => undefined
  fleet.store.read = async (...args) => {
    await new Promise<void>((resolve) => letGo.push(resolve))
    return read.apply(fleet.store, args)
  }
  return letGo
}

describe('a running read', () => {
  it('is not joined by a call with another codec', async () => {
    const fleet = createFleet()
    const reads = slowReads(fleet)
    const calls = [fleet.caches[0].get('k', { codec: json }), fleet.caches[0].get('k', { codec: structured })]
    await settle(fleet)
    expect(reads).toHaveLength(2)
    for (const letGo of reads) letGo()
    await Promise.all(calls)
  })

  it('is joined by a call that made the same codec anew', async () => {
    const fleet = createFleet()
    const reads = slowReads(fleet)
    const codec = (): Codec => ({ id: 16, encode: () => new Uint8Array(), decode: () => undefined })
    const calls = [fleet.caches[0].get('k', { codec: codec() }), fleet.caches[0].get('k', { codec: codec() })]
    await settle(fleet)
    expect(reads).toHaveLength(1)
    for (const letGo of reads) letGo()
    await Promise.all(calls)
  })

  it('keeps the slot of a later read with another codec when it ends', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const reads = slowReads(fleet)
    const calls = [cache.get('k', { codec: json }), cache.get('k', { codec: structured })]
    await settle(fleet)
    reads[0]?.()
    await settle(fleet)
    calls.push(cache.get('k', { codec: structured }))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[1]?.()
    await Promise.all(calls)
  })

  it('is not joined after another process has written, and keeps the slot of the later read', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const reads = slowReads(fleet)
    const calls = [cache.get('k')]
    await settle(fleet)
    await other.set('k', 'new')
    calls.push(cache.get('k'))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[0]?.()
    await settle(fleet)
    calls.push(cache.get('k'))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[1]?.()
    expect(await Promise.all(calls.slice(1))).toEqual(['new', 'new'])
  })
})

describe('the slots of shared reads', () => {
  it('serve the next read of the same key', () => {
    const slots = new SharedReads()
    const first = begin(slots, 'k')
    slots.end(first)
    expect([begin(slots, 'k'), first.read]).toEqual([first, unending])
    expect(slots.slotOf('k')).toBe(first)
  })

  it('are bounded, however many keys are read', () => {
    const slots = new SharedReads()
    for (let key = 0; key < 100_000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.size).toBeLessThanOrEqual(2048)
  })

  it('are kept while their read runs, however many other keys are read', () => {
    const slots = new SharedReads()
    const slow = begin(slots, 'slow')
    for (let key = 0; key < 10_000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.slotOf('slow')).toBe(slow)
  })

  it('grow with the number of running reads, and shrink afterwards', () => {
    const slots = new SharedReads()
    const reads = Array.from({ length: 10_000 }, (_, key) => begin(slots, String(key)))
    expect(slots.size).toBe(10_000)
    for (const slot of reads) slots.end(slot)
    expect(slots.size).toBeLessThanOrEqual(2048)
  })

  it('count a read whose slot was replaced or forgotten until it ends', () => {
    const slots = new SharedReads()
    const reads = Array.from({ length: 3000 }, (_, key) => begin(slots, String(key)))
    for (let key = 0; key < 3000; key += 1) slots.forget(String(key))
    for (const slot of reads) slots.end(slot)
    for (let key = 0; key < 3000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.size).toBeLessThanOrEqual(2048)
  })
})
