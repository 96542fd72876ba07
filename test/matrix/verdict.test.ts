import { describe, expect, test } from '@jest/globals'
import type { Cell, ProcessReport } from './cell.ts'
import { matrixTable } from './matrix-table.ts'
import { KeyTally } from './tally.ts'
import { BOUND, broken } from './verdict.ts'

const AWAY = 'CATTLEGRID_STORE_AWAY'

function tally(changed: Partial<KeyTally> = {}): KeyTally {
  const all = {
    answers: { 'fresh from outage': 10 },
    values: 10,
    slowest: [5, 0],
    slowestLookup: [6, 0],
    loads: [0, 1],
  }
  return Object.assign(new KeyTally(), all, changed)
}

/** A process of which nobody could complain. */
function well(changed: Partial<ProcessReport> = {}): ProcessReport {
  return {
    alive: true,
    keys: { hot: tally(), stale: tally(), cold: tally() },
    writes: { set: [AWAY], delete: [AWAY], expire: [AWAY], invalidateTags: [AWAY] },
    slowestWrite: 250,
    stalled: 12,
    recovery: { reads: 20, writes: 30, loads: 1 },
    trouble: [],
    ...changed,
  }
}

const cellOf = (fault: string, changed: Partial<ProcessReport>): Cell => ({
  fault,
  via: 'url',
  processes: [well(), well(changed)],
})

const cold = (changed: Partial<KeyTally>): Partial<ProcessReport> => ({
  keys: { hot: tally(), stale: tally(), cold: tally(changed) },
})
const deleted = (ended: string): Partial<ProcessReport> => ({
  writes: { set: [AWAY], delete: [AWAY, ended], expire: [AWAY], invalidateTags: [AWAY] },
})

describe('the verdict on a cell', () => {
  test.each([
    ['a process that died', 'stopped', { alive: false, recovery: undefined }, 'died'],
    ['a rejection that nobody handled', 'stopped', { trouble: ['unhandledRejection: x'] }, 'had unhandledRejection: x'],
    [
      'an error although the loader works',
      'stopped',
      cold({ errors: { [AWAY]: 2 } }),
      `2 callers of the cold key got ${AWAY}`,
    ],
    ['a caller that hung', 'stopped', cold({ hung: 1 }), '1 callers of the cold key hung'],
    ['a second load', 'stopped', cold({ loads: [1, 2] }), 'the cold key was loaded 2 times by the callers of wave 1'],
    [
      'a second load, however late what does not answer at all may be called',
      'stopped',
      cold({ loads: [1, 2], late: [2, 2] }),
      'the cold key was loaded 2 times by the callers of wave 1',
    ],
    [
      'a second load where every answer came in time',
      'latency-200',
      cold({ loads: [1, 2] }),
      'the cold key was loaded 2 times by the callers of wave 1',
    ],
    ['a write that pretends', 'stopped', deleted('done'), 'delete was done'],
    ['a write that fails in another way', 'full', deleted('EPIPE'), 'delete was EPIPE'],
    ['a process that did not do what it was told', 'stopped', { recovery: undefined }, 'did not finish'],
    [
      'a process that does not come back',
      'stopped',
      { recovery: { reads: 1, writes: null, loads: 0 } },
      'did not get back',
    ],
    [
      'a stampede on the way back',
      'stopped',
      { recovery: { reads: 20, writes: 30, loads: 4 } },
      'loaded the hot key 4 times',
    ],
  ] as const)('finds %s', (_, fault, changed, sentence) => {
    const cell = cellOf(fault, changed)
    expect(broken(cell)).toEqual([expect.stringContaining(`${fault} via url, process 1: ${sentence}`)])
  })

  test.each([
    ['nothing', 'stopped', {}],
    [
      'a load with a lease after one without, which a late answer began',
      'latency-200',
      cold({ loads: [1, 2], late: [0, 1] }),
    ],
    ['a write that a full store can still do', 'full', deleted('done')],
  ] as const)('does not complain of %s', (_, fault, changed) => {
    expect(broken(cellOf(fault, changed))).toEqual([])
  })
})

describe('the table of the matrix', () => {
  test('shows what is slow, what failed and who is still there', () => {
    const slow = cold({ slowest: [BOUND + 1], errors: { [AWAY]: 2 }, hung: 1, loads: [3] })
    const table = matrixTable([
      cellOf('stopped', { ...slow, alive: false, recovery: { reads: null, writes: 7, loads: 0 } }),
    ])
    const [head = '', line = '', hot = '', , last = ''] = table.split('\n')
    expect(head.indexOf('writes')).toBe(hot.indexOf('STORE_AWAY'))
    expect(line.length).toBe(Math.max(...[head, hot, last].map(({ length }) => length)))
    expect(hot).toMatch(
      /Redis stopped \(SIGSTOP\) +url +hot +100 % fresh from outage +– +5 +6 +1 +STORE_AWAY +never \/ 30 +12 +1\/2 alive/,
    )
    expect(last).toMatch(new RegExp(` cold +100 % fresh from outage +2 ${AWAY}, 1 hung +${BOUND + 1} ! +6 +3$`))
  })
})
