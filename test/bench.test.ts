import { describe, expect, it } from '@jest/globals'
import { at, figure } from '../bench/src/run/figure.ts'
import { withOthers } from '../bench/src/run/keep.ts'
import { resultJson } from '../bench/src/run/result-json.ts'
import { met, type Result } from '../bench/src/run/result.ts'
import { figureOf, interleave, inverse, ratio } from '../bench/src/run/rounds.ts'
import { loadsPerExpiry } from '../bench/src/stampede/game.ts'

describe('the arithmetic of the benches', () => {
  it('tells the middle of the rounds and the quartiles around it', () => {
    expect(figure([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4, rounds: 5 })
    expect(at([10, 20], 0.5)).toBe(15)
  })

  it('measures all contenders in every round, and another one first each time', async () => {
    const order: string[] = []
    const contender = (name: string) => ({
      name,
      measure: async () => {
        order.push(name)
        return { ns: order.length }
      },
    })
    const seen = await interleave(['a', 'b', 'c'].map(contender), 3)
    expect(order.join('')).toBe('abcbcacab')
    expect(figureOf(seen, 'a', 'ns')).toMatchObject({ median: 6, rounds: 3 })
  })

  it('compares two contenders inside each round, so that a slow round slows both', async () => {
    const slow = [1, 100, 1]
    const contender = (name: string, ns: number) => {
      let round = 0
      return { name, measure: async () => ({ ns: ns * (slow[round++] ?? 1) }) }
    }
    const seen = await interleave([contender('ours', 2), contender('floor', 4)], 3)
    expect(ratio(seen, 'ours', 'floor', 'ns')).toEqual({ median: 0.5, low: 0.5, high: 0.5, rounds: 3 })
    expect(inverse({ median: 0.5, low: 0.25, high: 1, rounds: 3 })).toEqual({ median: 2, low: 1, high: 4, rounds: 3 })
  })

  it('counts the loads that could have been one as loads of one expiry', () => {
    expect(loadsPerExpiry([0, 700, 1400], 200)).toBe(1)
    expect(loadsPerExpiry([0, 5, 10, 700, 705, 710], 200)).toBe(3)
    expect(loadsPerExpiry([], 200)).toBe(0)
  })

  it('knows a target that is met from one that is not', () => {
    const target = { what: 'a hit', wanted: 1.5, unit: '×' }
    expect(met({ ...target, op: '<=', got: 1.5 })).toBe(true)
    expect(met({ ...target, op: '<=', got: figure([1.6]) })).toBe(false)
    expect(met({ ...target, op: '>=', got: 1.4 })).toBe(false)
    expect(met({ ...target, op: '=', got: 1.5 })).toBe(true)
  })

  it('keeps each row of a result on one line, and loses nothing of it', () => {
    const rows = [
      { name: 'ours', cells: { ns: figure([1, 2]), seen: [[1, 2], []] } },
      { name: 'floor', cells: {} },
    ]
    const result = { bench: 'hit', versions: { redis: '6' }, tables: [{ id: 'hit', rows }], plots: [] }
    const text = resultJson({ ...result, conditions: undefined })
    expect(JSON.parse(text)).toEqual(result)
    const lines = text.split('\n')
    expect(lines).toContain('  "versions": {"redis":"6"},')
    for (const row of rows) expect(lines.map((line) => line.trim().replace(/,$/, ''))).toContain(JSON.stringify(row))
  })

  it('keeps the tables of an earlier run that a run of some parts did not measure, each with its time', () => {
    const result = (run: number, ...ids: readonly string[]): Result => ({
      bench: 'overload',
      at: String(run),
      smoke: false,
      machine: { cpu: '', cores: 2, memory: '', os: '', node: '', loadBefore: 0, busy: 0 },
      versions: {},
      tables: ids.map((id) => ({ id, title: `${id}${run}`, columns: [], rows: [] })),
      targets: ids.map((what) => ({ what, op: '>=', wanted: 1, got: run, unit: '' })),
      series: ids.map((id) => ({ id, name: String(run), seconds: {} })),
    })
    const kept = withOthers(result(3, 'b', 'd'), withOthers(result(2, 'c'), result(1, 'a', 'b', 'c')))
    expect(kept.tables.map((table) => [table.title, table.at])).toEqual([
      ['a1', '1'],
      ['b3', undefined],
      ['c2', '2'],
      ['d3', undefined],
    ])
    expect(kept.targets.map(({ what, got }) => [what, got])).toEqual([
      ['a', 1],
      ['c', 2],
      ['b', 3],
      ['d', 3],
    ])
    expect(kept.series?.map(({ id, name }) => id + name).toSorted()).toEqual(['a1', 'b3', 'c2', 'd3'])
  })
})
