import { describe, expect, test } from '@jest/globals'
import { HitLru, type LruLimits, LruNode } from '../../src/store/hit-lru.ts'

const SIZE = 64

class Sized extends LruNode {
  readonly bytes: number

  constructor(key: string, bytes: number) {
    super(key)
    this.bytes = bytes
  }
}

const names = (count: number, prefix = 'k'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

function full(bounds: LruLimits<LruNode>): HitLru<LruNode> {
  const lru = new HitLru<LruNode>(bounds)
  for (const key of names(SIZE)) lru.set(new LruNode(key))
  return lru
}

/** Numbers that are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

/** The keys from the one that would go first to the one that was used last. */
function order(lru: HitLru<LruNode>): string[] {
  const keys: string[] = []
  let node: LruNode | undefined = [...lru.values()].find(({ older }) => older === undefined)
  for (; node !== undefined; node = node.newer) keys.push(node.key)
  return keys
}

describe.each([
  ['entries', { maxEntries: SIZE }],
  ['bytes', { maxEntries: 10 * SIZE, maxBytes: SIZE * 1000, sizeOf: () => 1000 }],
])('an LRU of %s for many hits', (_, bounds) => {
  test('keeps what an exact LRU of seven eighths of its size keeps', () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const below = numbers(seed)
      const lru = full(bounds)
      // As an LRU of that size would: the last of them, the latest asked for at the end.
      let expected: string[] = []
      for (let step = 0; step < 1000; step += 1) {
        const key = below(4) === 0 ? `new${step}` : `k${below(SIZE)}`
        if (lru.hit(key) === undefined) lru.set(new LruNode(key))
        expected = [...expected.filter((other) => other !== key), key].slice(-SIZE * (7 / 8))
        expect(expected.filter((one) => lru.peek(one) === undefined)).toEqual([])
      }
      expect([...lru.values()]).toHaveLength(SIZE)
    }
  })

  test('evicts what is not used', () => {
    const lru = full(bounds)
    for (const key of names(SIZE, 'new')) {
      lru.hit('k0')
      lru.set(new LruNode(key))
    }
    expect(names(SIZE).filter((key) => lru.peek(key) !== undefined)).toEqual(['k0'])
  })

  test('does not move recently moved keys at a hit', () => {
    const lru = full(bounds)
    const before = order(lru)
    for (let round = 0; round < 10; round += 1) for (const key of names(SIZE).slice(-SIZE / 16)) lru.hit(key)
    expect(order(lru)).toEqual(before)
    lru.hit('k0')
    expect(order(lru)).toEqual([...names(SIZE).slice(1), 'k0'])
  })

  test('has room until it is full, and again when something is gone', () => {
    const lru = new HitLru<LruNode>(bounds)
    expect(lru.hasRoom()).toBe(true)
    for (const key of names(SIZE)) {
      expect(lru.hasRoom()).toBe(true)
      lru.set(new LruNode(key))
    }
    expect(lru.hasRoom()).toBe(false)
    lru.delete('k7')
    expect([lru.hasRoom(), lru.peek('k7'), lru.hit('k7')]).toEqual([true, undefined, undefined])
    lru.clear()
    expect([...lru.values(), lru.peek('k8')]).toEqual([undefined])
  })
})

describe.each([1, 4, 13, 20, 45])('an LRU in which some nodes weigh %i hundredths of the limit', (large) => {
  test('keeps what an exact LRU of seven eighths of the bytes keeps', () => {
    const sizeOf = ({ bytes }: Sized): number => bytes
    const below = numbers(large)
    const lru = new HitLru<Sized>({ maxEntries: 1000, maxBytes: 10_000, sizeOf })
    let expected: { readonly key: string; readonly bytes: number }[] = []
    for (let step = 0; step < 3000; step += 1) {
      const bytes = below(10) === 0 ? large * 100 : 50
      const key = bytes > 50 ? `large${below(20)}` : `k${below(300)}`
      if (lru.hit(key) === undefined) lru.set(new Sized(key, bytes))
      expected = [{ key, bytes }, ...expected.filter((other) => other.key !== key)]
      let left = 8750
      expected = expected.filter((one) => (left -= one.bytes) >= 0)
      expect(expected.filter((one) => lru.peek(one.key) === undefined)).toEqual([])
    }
  })
})

test('keeps no node larger than maxBytes, nor the one it would replace', () => {
  const lru = new HitLru<Sized>({
    maxEntries: 10,
    maxBytes: 100,
    sizeOf: ({ bytes }) => bytes,
  })
  lru.set(new Sized('k', 10))
  lru.set(new Sized('k', 101))
  expect([lru.peek('k'), ...lru.values()]).toEqual([undefined])
})

test('reports each node that leaves, for whatever reason, and each that it does not keep', () => {
  const left: string[] = []
  const small = new HitLru<Sized>({
    maxEntries: 2,
    maxBytes: 10,
    sizeOf: ({ bytes }) => bytes,
    onRemove: ({ key }) => void left.push(key),
  })
  for (const key of ['a', 'a', 'b', 'c']) small.set(new Sized(key, 1))
  small.set(new Sized('b', 11))
  small.delete('c')
  small.set(new Sized('d', 1))
  small.clear()
  expect(left).toEqual(['a', 'a', 'b', 'b', 'c', 'd'])
})
