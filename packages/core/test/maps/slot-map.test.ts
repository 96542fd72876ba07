import { describe, expect, it } from '@jest/globals'
import { SlotMap } from '../../src/maps/slot-map.ts'

/** Sets and deletes so many keys, one after the other. */
function churn(map: SlotMap<number>, keys: number): void {
  for (let key = 0; key < keys; key += 1) {
    map.set(`key ${key}`, key)
    map.delete(`key ${key}`)
  }
}

describe('a map of slots', () => {
  it('holds, replaces and deletes values as a Map does', () => {
    const map = new SlotMap<string>()
    map.set('a', 'one')
    map.set('b', 'two')
    map.set('a', 'three')
    map.delete('b')
    map.delete('never set')
    expect([map.get('a'), map.get('b'), map.size, [...map.entries()]]).toEqual([
      'three',
      undefined,
      1,
      [['a', 'three']],
    ])
    map.clear()
    expect([map.get('a'), map.size, map.slots]).toEqual([undefined, 0, 0])
  })

  it('keeps the slot of a key whose value is deleted for its next value', () => {
    const map = new SlotMap<string>()
    map.set('a', 'one')
    map.delete('a')
    expect([map.size, map.slots]).toEqual([0, 1])
    map.set('a', 'two')
    expect([map.get('a'), map.size, map.slots]).toEqual(['two', 1, 1])
  })

  it('keeps the slots of a burst for the next one', () => {
    const map = new SlotMap<number>()
    const keys = Array.from({ length: 1024 }, (_, key) => String(key))
    for (let burst = 0; burst < 4; burst += 1) {
      const some = keys.slice(burst % 2 === 0 ? 0 : 512).slice(0, 512)
      for (const key of some) map.set(key, 0)
      for (const key of some) map.delete(key)
    }
    expect(map.slots).toBe(1024)
  })

  it('has a bounded number of empty slots, however many keys come and go', () => {
    const map = new SlotMap<number>()
    churn(map, 10_000)
    expect(map.slots).toBeLessThanOrEqual(128)
  })

  it('keeps a value, however many other keys come and go', () => {
    const map = new SlotMap<number>()
    map.set('kept', -1)
    churn(map, 10_000)
    expect([map.get('kept'), map.size]).toEqual([-1, 1])
  })

  it('grows with the number of values, and shrinks when other keys come and go', () => {
    const map = new SlotMap<number>()
    const keys = Array.from({ length: 10_000 }, (_, key) => String(key))
    for (const key of keys) map.set(key, 0)
    expect([map.size, map.slots]).toEqual([10_000, 10_000])
    for (const key of keys) map.delete(key)
    expect(map.size).toBe(0)
    churn(map, 10_000)
    expect(map.slots).toBeLessThanOrEqual(128)
  })
})
