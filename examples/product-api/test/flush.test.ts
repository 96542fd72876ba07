import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { tellFlush } from '../src/demo/live/flush.ts'
import { FragileSource } from '../src/demo/live/fragile-source.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** Lets loads come at once; returns the loads that are done after each of these times. */
function doneAfter(loads: number, times: readonly number[]): number[] {
  const source = new FragileSource()
  let done = 0
  for (let load = 0; load < loads; load += 1) source.load(() => (done += 1))
  return times.map((ms) => {
    jest.advanceTimersByTime(ms)
    return done
  })
}

test('a source with a short queue works on five loads at once, each of which takes 100 ms', () => {
  expect(doneAfter(10, [99, 1, 99, 1])).toEqual([0, 5, 5, 10])
})

test('a source with a long queue takes ten times as long for a load, and recovers with its queue', () => {
  // Its first loads have begun before there was a queue.
  expect(doneAfter(105, [100, 900, 100])).toEqual([5, 5, 10])
  expect(doneAfter(105, [30_000])).toEqual([105])
})

test('a source that is closed begins no further load', () => {
  const source = new FragileSource()
  for (let load = 0; load < 10; load += 1) source.load(() => undefined)
  expect(source.loads).toBe(10)
  source.close()
  jest.advanceTimersByTime(1_000)
  expect(source.loads).toBe(0)
})

test('a flush is told in a sentence, with the calls and the loads of both sides', () => {
  const limited = { ended: 6_000, good: 5_999, mostAtSource: 24 }
  expect(tellFlush([limited, { ended: 6_000, good: 3_540, mostAtSource: 417 }])).toBe(
    'Flushed everything. cattlegrid: 99 % of the calls had an answer within 2 s, at most 24 loads were at the source. ' +
      'With maxLoads: false: 59 % of the calls had an answer within 2 s, at most 417 loads were at the source.',
  )
})
