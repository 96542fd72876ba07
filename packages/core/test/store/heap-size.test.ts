import { describe, expect, it, jest } from '@jest/globals'
import { heapSizeOf } from '../../src/store/heap-size.ts'

const row = (id: number): object => ({ id, name: `product ${id}`, price: id + 0.5 })
const rows = (count: number): object[] => Array.from({ length: count }, (_, id) => row(id))

describe('the estimate of a value', () => {
  it.each<[string, unknown, number]>([
    ['undefined', undefined, 0],
    ['a small integer', 7, 0],
    ['another number', 7.5, 16],
    ['a text of one byte a character', 'é'.repeat(1000), 1016],
    ['a text of two bytes a character', 'я'.repeat(1000), 2016],
    ['an array of numbers', Array.from({ length: 100 }, (_, index) => index / 2), 848],
    ['a Set', new Set([1, 2, 3, 4]), 72 + 4 * 20],
    ['a Map', new Map([[1, 'one']]), 72 + 4 * 28 + 24],
    ['a Date', new Date(0), 112],
    ['bytes', new Uint8Array(1000), 1200],
    ['a small view of many bytes', new Uint8Array(100_000).subarray(0, 1), 100_200],
    ['a bigint', 2n ** 4000n, 16 + 1001],
  ])('of %s', (_, value, bytes) => {
    expect(heapSizeOf(value)).toBe(bytes)
  })

  it('counts a part that is there twice, and a cycle, once', () => {
    const part = { text: 'x'.repeat(10_000) }
    const both: Record<string, unknown> = { one: part, other: part }
    both['self'] = both
    expect(heapSizeOf(both)).toBeLessThan(11_000)
  })

  it('counts an ArrayBuffer once, however many views of it there are', () => {
    const bytes = new ArrayBuffer(10_000)
    expect(heapSizeOf([new Uint8Array(bytes), new Uint16Array(bytes, 8)])).toBeLessThan(11_000)
  })

  it('counts the keys of objects alike once, and those of a dictionary all', () => {
    const alike = heapSizeOf(rows(20)) - heapSizeOf(rows(19))
    expect(alike).toBeLessThan(110)
    const dictionary = (count: number): object => Object.fromEntries(rows(count).map((_, id) => [`product:${id}`, id]))
    expect(heapSizeOf(dictionary(20)) - heapSizeOf(dictionary(19))).toBeGreaterThan(50)
    expect(heapSizeOf(dictionary(2000)) / 2000).toBeGreaterThan(90)
  })

  it('measures a sample of a long list', () => {
    const whole = heapSizeOf(rows(50)) * 2000
    const long = heapSizeOf(rows(100_000))
    expect(long / whole).toBeGreaterThan(0.8)
    expect(long / whole).toBeLessThan(1.2)
  })

  it.each([64, 100, 1000])(
    'of a list of %d that repeats itself every second member is that of all members',
    (count) => {
      const list = Array.from({ length: count }, (_, index) => [index % 2 === 0 ? 'short' : 'x'.repeat(1000)])
      const halves = count / 2
      expect(heapSizeOf(list) / (halves * 1200)).toBeGreaterThan(0.75)
      expect(heapSizeOf(list) / (halves * 1200)).toBeLessThan(1.25)
    },
  )

  it('visits so many objects of a deep value at most', () => {
    let looks = 0
    const deep = (depth: number): object =>
      new Proxy(depth === 0 ? [] : Array.from({ length: 10 }, () => deep(depth - 1)), {
        getPrototypeOf: (target) => ((looks += 1), Reflect.getPrototypeOf(target)),
        get: (target, key, at) => ((looks += Number(key === 'length')), Reflect.get(target, key, at) as unknown),
      })
    const value = deep(4)
    looks = 0
    expect(heapSizeOf(value)).toBeGreaterThan(11_111 * 40)
    expect(looks).toBeLessThan(5000)
  })

  it('does not end the process at a chain of many objects', () => {
    let chain: object = {}
    for (let length = 0; length < 100_000; length += 1) chain = { chain }
    expect(heapSizeOf(chain)).toBeGreaterThan(30_000)
  })

  it('calls no getter', () => {
    const get = jest.fn()
    heapSizeOf(Object.defineProperty({}, 'lazy', { get, enumerable: true }))
    expect(get).not.toHaveBeenCalled()
  })

  it('of a proxy that throws is a guess', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(heapSizeOf([proxy])).toBe(256)
  })
})
