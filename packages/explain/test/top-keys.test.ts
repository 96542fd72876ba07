import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { mergeWeights } from '../src/hot-keys.ts'
import { TopKeys } from '../src/top-keys.ts'

const streams = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 100 })), {
  maxLength: 300,
})

/** The weights of a stream, by key, and their sum. */
function weigh(stream: readonly (readonly [number, number])[]): {
  readonly true: Map<string, number>
  readonly total: number
} {
  const weights = new Map<string, number>()
  for (const [key, weight] of stream) weights.set(`k${key}`, (weights.get(`k${key}`) ?? 0) + weight)
  return { true: weights, total: stream.reduce((sum, [, weight]) => sum + weight, 0) }
}

function sketchOf(stream: readonly (readonly [number, number])[], size: number): TopKeys {
  const keys = new TopKeys(size)
  for (const [key, weight] of stream) keys.add(`k${key}`, weight)
  return keys
}

describe('the heaviest keys', () => {
  it('are exact, the heaviest first, while there are no more keys than counters', () => {
    const keys = new TopKeys(3)
    for (const [key, weight] of [
      ['a', 1],
      ['b', 5],
      ['a', 2],
      ['c', 4],
    ] as const)
      keys.add(key, weight)
    expect(keys.list()).toEqual([
      { key: 'b', weight: 5, error: 0 },
      { key: 'c', weight: 4, error: 0 },
      { key: 'a', weight: 3, error: 0 },
    ])
  })

  it('are never more than the counters', () => {
    const keys = new TopKeys(10)
    for (let index = 0; index < 1000; index += 1) keys.add(`k${index}`, 1)
    expect(keys.list()).toHaveLength(10)
  })

  it('weigh at least what they weigh in truth, and at most their error more, which is bounded by the total', () => {
    fc.assert(
      fc.property(streams, fc.integer({ min: 1, max: 12 }), (stream, size) => {
        const { true: weights, total } = weigh(stream)
        const keys = sketchOf(stream, size)
        for (const { key, weight, error } of keys.list()) {
          const truth = weights.get(key) ?? 0
          expect(weight).toBeGreaterThanOrEqual(truth)
          expect(weight - error).toBeLessThanOrEqual(truth)
          expect(error).toBeLessThanOrEqual(total / size)
        }
        expect(keys.unlisted).toBeLessThanOrEqual(total / size)
      }),
    )
  })

  it('include every key with more than its share of the total', () => {
    fc.assert(
      fc.property(streams, fc.integer({ min: 1, max: 12 }), (stream, size) => {
        const { true: weights, total } = weigh(stream)
        const listed = sketchOf(stream, size)
          .list()
          .map(({ key }) => key)
        const heavy = [...weights].filter(([, weight]) => weight > total / size).map(([key]) => key)
        expect(listed).toEqual(expect.arrayContaining(heavy))
      }),
    )
  })

  it('keep their bounds when the lists of several processes are merged', () => {
    fc.assert(
      fc.property(streams, streams, fc.integer({ min: 1, max: 12 }), (here, there, size) => {
        const { true: weights } = weigh([...here, ...there])
        const sketches = [sketchOf(here, size), sketchOf(there, size)]
        for (const { key, weight, error } of mergeWeights(
          sketches.map((one) => ({ keys: one.list(), unlisted: one.unlisted })),
        )) {
          const truth = weights.get(key) ?? 0
          expect(weight).toBeGreaterThanOrEqual(truth)
          expect(weight - error).toBeLessThanOrEqual(truth)
        }
      }),
    )
  })
})
