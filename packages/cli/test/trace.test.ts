import { expect, test } from '@jest/globals'
import type { ExplainedEvent, RecordedType } from '@cattlegrid/explain'
import { traceOf } from '../src/trace.ts'

const web = { pid: 1, host: 'web-1', name: 'shop' }
const worker = { pid: 1, host: 'web-2', name: 'shop' }

function event(process: typeof web, type: RecordedType, at: number, fields: ExplainedEvent['fields']): ExplainedEvent {
  return { process, type, at, until: at, count: 1, key: 'k', fields, failure: undefined }
}

const events = [
  event(web, 'miss', 1000, { call: 4 }),
  event(web, 'load', 1001, { flight: 7 }),
  event(worker, 'load', 1002, { flight: 7 }),
  event(web, 'outcome', 1031, { flight: 7, outcome: 'committed' }),
  event(worker, 'outcome', 1052, { flight: 8, outcome: 'failed' }),
]
const { traceEvents } = traceOf([{ at: 2000, events }])
const marks = traceEvents.filter(({ ph }) => ph !== 'M')

test('a load is a span that ends with the outcome of its flight in its process, in microseconds', () => {
  expect(marks[1]).toMatchObject({ ph: 'X', name: 'load', ts: 1_001_000, dur: 30_000, tid: 7 })
  expect(marks[1]?.args).toMatchObject({ outcome: 'committed' })
})

test('a load without an outcome is a span up to the question', () => {
  expect(marks[2]).toMatchObject({ ph: 'X', ts: 1_002_000, dur: 998_000, args: { outcome: 'none yet' } })
})

test('every other event is an instant, also an outcome whose load is no longer remembered', () => {
  expect(marks.map(({ ph, name }) => `${ph} ${name}`)).toEqual(['i miss', 'X load', 'X load', 'i outcome'])
})

test('processes of two hosts with one pid are two processes, and each track has a name', () => {
  const names = traceEvents.filter(({ ph }) => ph === 'M').map(({ pid, tid, args }) => [pid, tid, args['name']])
  expect(names).toEqual([
    [1, 0, 'pid 1 on web-1 (shop)'],
    [1, 0, 'calls and invalidations'],
    [1, 7, 'flight 7'],
    [2, 0, 'pid 1 on web-2 (shop)'],
    [2, 7, 'flight 7'],
    [2, 8, 'flight 8'],
  ])
})
