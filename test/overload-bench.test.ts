import { describe, expect, it } from '@jest/globals'
import { type Calls, goodShare, perSecond } from '../bench/src/overload/calls.ts'
import { Source, type SourceTraits } from '../bench/src/overload/source.ts'
import { arrivals, type Traffic } from '../bench/src/overload/traffic.ts'

const RANK = 7

/** Keeps about `waiting` loads in the queue, and tells how many the source answers in `ms`. */
function servedIn(traits: SourceTraits, waiting: number, ms: number): number {
  const source = new Source(traits)
  let arrived = 0
  let served = 0
  for (let now = 0; now <= ms; now += 1) {
    source.advance(now)
    for (; arrived - served < traits.atOnce + waiting; arrived += 1) source.arrive(RANK, now, () => (served += 1))
  }
  return served
}

describe('the source of the overload bench', () => {
  it.each([3, 30, 300])('answers its loads a second with a short queue, at %d at once', (atOnce) => {
    const served = servedIn({ atOnce, perSecond: 500 }, 20, 10_000)
    expect(served).toBeGreaterThan(4600)
    expect(served).toBeLessThanOrEqual(5000)
  })

  it.each([3, 30])('answers a tenth of them with a long queue, at %d at once', (atOnce) => {
    const served = servedIn({ atOnce, perSecond: 500 }, 2000, 10_000)
    expect(served).toBeGreaterThan(450)
    expect(served).toBeLessThan(600)
  })

  it('loses no capacity to a timer that fires late', () => {
    const source = new Source({ atOnce: 1, perSecond: 100 })
    let served = 0
    for (let load = 0; load < 10; load += 1) source.arrive(RANK, 0, () => (served += 1))
    source.advance(100)
    expect(served).toBe(10)
  })

  it('works on a load whose client has gone, unless the client drops it in the queue', () => {
    const source = new Source({ atOnce: 1, perSecond: 100 })
    const answered: string[] = []
    const [first, second] = ['first', 'second', 'third'].map((name) =>
      source.arrive(RANK, 0, () => answered.push(name)),
    )
    first?.()
    second?.()
    second?.()
    expect(source.look(0)).toEqual({ running: 1, queued: 1, arrived: 3, served: 0 })
    source.advance(1000)
    expect(answered).toEqual(['first', 'third'])
  })

  it('finishes the running loads of workers that it loses, and gives no other to them', () => {
    const source = new Source({ atOnce: 4, perSecond: 400 })
    for (let load = 0; load < 8; load += 1) source.arrive(RANK, 0, () => undefined)
    source.change({ workers: 0.5, time: 1 }, 0)
    expect(source.look(5)).toMatchObject({ running: 4, queued: 4 })
    expect(source.look(15)).toMatchObject({ running: 2, queued: 2 })
  })

  it('takes 5 s for a slow key, and answers 404 in a tenth of the time', () => {
    const source = new Source({ atOnce: 2, perSecond: 20, slowRank: 1, absentEvery: 20 })
    const answers: unknown[] = []
    source.arrive(1, 0, (found) => answers.push(['slow', found]))
    source.arrive(40, 0, (found) => answers.push(['absent', found]))
    source.advance(10)
    expect(answers).toEqual([['absent', false]])
    source.advance(4999)
    expect(answers).toHaveLength(1)
    source.advance(5000)
    expect(answers).toEqual([
      ['absent', false],
      ['slow', true],
    ])
  })
})

describe('the calls of the overload bench', () => {
  const take = (traffic: Traffic, count: number) => {
    const calls = arrivals(traffic)
    return Array.from({ length: count }, () => calls.next().value)
  }

  it('are the same for a seed, and come at their rate', () => {
    const traffic: Traffic = { rate: 1000, keys: 100, spread: 'zipf', seed: 1 }
    const calls = take(traffic, 10_000)
    expect(take(traffic, 10_000)).toEqual(calls)
    expect(take({ ...traffic, seed: 2 }, 10_000)).not.toEqual(calls)
    expect(calls.at(-1)?.at).toBeGreaterThan(9500)
    expect(calls.at(-1)?.at).toBeLessThan(10_500)
  })

  it('ask for a key in proportion to 1 / rank, or for every key alike', () => {
    const share = (spread: Traffic['spread'], rank: number): number =>
      take({ rate: 1000, keys: 100, spread, seed: 3 }, 20_000).filter((call) => call.rank === rank).length / 20_000
    const sum = Array.from({ length: 100 }, (_, place) => 1 / (place + 1)).reduce((total, part) => total + part, 0)
    expect(share('zipf', 1)).toBeCloseTo(1 / sum, 2)
    expect(share('zipf', 4)).toBeCloseTo(1 / sum / 4, 2)
    expect(share('uniform', 1)).toBeCloseTo(0.01, 2)
    expect(share('uniform', 100)).toBeCloseTo(0.01, 2)
  })

  it('are good when a value comes within 2 s, in the second in which they came', () => {
    const calls: Calls = {
      at: [-5, 0, 999, 1000, 1500, 1600, 1700],
      took: [1, 2000, 2001, 5, 5, Number.NaN, 5],
      end: ['value', 'value', 'value', 'value', 'refused', 'gone', 'value'],
      rank: [1, 1, 1, 1, 1, 1, 20],
    }
    const seconds = perSecond(calls, 2, (rank) => rank !== 20)
    expect(seconds).toEqual([
      { calls: 2, good: 1, late: 1, refused: 0, failed: 0, gone: 0 },
      { calls: 3, good: 1, late: 0, refused: 1, failed: 0, gone: 1 },
    ])
    expect(goodShare(seconds)).toBe(40)
  })
})
