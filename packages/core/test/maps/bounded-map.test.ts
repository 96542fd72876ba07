import { describe, expect, test } from '@jest/globals'
import { BoundedMap } from '../../src/maps/bounded-map.ts'

const CAPACITY = 8

function filled(count: number): BoundedMap<number, string> {
  const map = new BoundedMap<number, string>(CAPACITY)
  for (let key = 1; key <= count; key += 1) map.set(key, `value ${key}`)
  return map
}

describe('a bounded map', () => {
  test('keeps the keys set last, at least as many as its capacity', () => {
    for (let count = 1; count <= 10 * CAPACITY; count += 1) {
      const map = filled(count)
      for (let key = Math.max(1, count - CAPACITY + 1); key <= count; key += 1)
        expect(map.get(key)).toBe(`value ${key}`)
    }
  })

  test('never holds more than twice its capacity', () => {
    const map = new BoundedMap<number, string>(CAPACITY)
    for (let key = 1; key <= 100 * CAPACITY; key += 1) {
      map.set(key, 'value')
      expect(map.size).toBeLessThanOrEqual(2 * CAPACITY)
    }
  })

  test('keeps a key that is asked for, however many others come', () => {
    const map = filled(1)
    for (let key = 2; key <= 100 * CAPACITY; key += 1) {
      map.set(key, 'value')
      expect(map.get(1)).toBe('value 1')
    }
  })

  test('gives the value that was set last, also after the key has grown old', () => {
    const map = filled(CAPACITY + 1)
    map.set(1, 'newer')
    expect(map.get(1)).toBe('newer')
    for (let key = 100; key < 99 + CAPACITY; key += 1) map.set(key, 'value')
    expect(map.get(1)).toBe('newer')
  })

  test('forgets a deleted key in both generations, and every key when it is cleared', () => {
    const map = filled(CAPACITY + 2)
    map.delete(1)
    map.delete(CAPACITY + 1)
    expect([map.get(1), map.get(CAPACITY + 1), map.size]).toEqual([undefined, undefined, CAPACITY])
    map.clear()
    expect([map.get(2), map.size]).toEqual([undefined, 0])
  })

  test('reports each value that it forgets once, and none that is still there', () => {
    const forgotten: number[] = []
    const map = new BoundedMap<number, number>(CAPACITY, (values) => forgotten.push(...values))
    for (let key = 1; key <= 10 * CAPACITY; key += 1) {
      map.set(key, key)
      map.get(1)
    }
    const kept = Array.from({ length: 10 * CAPACITY }, (_, index) => index + 1).filter(
      (key) => !forgotten.includes(key),
    )
    expect(new Set(forgotten).size).toBe(forgotten.length)
    expect(kept).toHaveLength(map.size)
    expect(kept).toContain(1)
  })
})
