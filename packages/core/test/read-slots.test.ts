import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { type ReadSlot, SharedReads } from '../src/flight/shared-reads.ts'
import type { Read } from '../src/store/store.ts'

const read: Promise<Read> = new Promise(() => {})

function begin(slots: SharedReads, key: string): ReadSlot {
  return slots.occupy(key, slots.slotOf(key), json, read)
}

function beginAndEnd(slots: SharedReads, key: string): void {
  slots.vacate(begin(slots, key))
}

describe('the slots of reads', () => {
  it('serve the next read of their key', () => {
    const slots = new SharedReads()
    const first = begin(slots, 'k')
    slots.vacate(first)
    expect([begin(slots, 'k'), first.read]).toEqual([first, read])
    expect(slots.slotOf('k')).toBe(first)
  })

  it('are bounded, however many keys are read', () => {
    const slots = new SharedReads()
    for (let key = 0; key < 100_000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.size).toBeLessThanOrEqual(2048)
  })

  it('stay where a read is under way, however many keys are read meanwhile', () => {
    const slots = new SharedReads()
    const slow = begin(slots, 'slow')
    for (let key = 0; key < 10_000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.slotOf('slow')).toBe(slow)
  })

  it('are as many as there are reads under way, and few again when these are over', () => {
    const slots = new SharedReads()
    const reads = Array.from({ length: 10_000 }, (_, key) => begin(slots, String(key)))
    expect(slots.size).toBe(10_000)
    for (const slot of reads) slots.vacate(slot)
    expect(slots.size).toBeLessThanOrEqual(2048)
  })

  it('that were replaced or forgotten count as long as their reads are under way', () => {
    const slots = new SharedReads()
    const reads = Array.from({ length: 3000 }, (_, key) => begin(slots, String(key)))
    for (let key = 0; key < 3000; key += 1) slots.forget(String(key))
    for (const slot of reads) slots.vacate(slot)
    for (let key = 0; key < 3000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.size).toBeLessThanOrEqual(2048)
  })
})
