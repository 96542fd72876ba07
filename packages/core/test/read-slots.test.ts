import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { type ReadSlot, ReadSlots } from '../src/read-slots.ts'
import type { Read } from '../src/store/store.ts'

const read: Promise<Read> = new Promise(() => {})

function begin(slots: ReadSlots, key: string): ReadSlot {
  return slots.take(key, slots.of(key), json, read)
}

function beginAndEnd(slots: ReadSlots, key: string): void {
  begin(slots, key).read = undefined
}

describe('the slots of reads', () => {
  it('serve the next read of their key', () => {
    const slots = new ReadSlots()
    beginAndEnd(slots, 'k')
    begin(slots, 'k')
    expect([slots.of('k')?.read, slots.size]).toEqual([read, 1])
  })

  it('are bounded, however many keys are read', () => {
    const slots = new ReadSlots()
    for (let key = 0; key < 100_000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.size).toBeLessThanOrEqual(2048)
  })

  it('stay where a read is under way, however many keys are read meanwhile', () => {
    const slots = new ReadSlots()
    const slow = begin(slots, 'slow')
    for (let key = 0; key < 10_000; key += 1) beginAndEnd(slots, String(key))
    expect(slots.of('slow')).toBe(slow)
  })

  it('are as many as there are reads under way', () => {
    const slots = new ReadSlots()
    for (let key = 0; key < 10_000; key += 1) begin(slots, String(key))
    expect(slots.size).toBe(10_000)
  })
})
