import type { LoadWants } from './load-share.ts'
import type { ToldLoads } from './round-loads.ts'

/** What a process tells the others of its loads from one source. */
export type LoadReport = LoadWants & ToldLoads

export function encodeReport({ running, queued, mayBegin, round, mean, bound, times, ages }: LoadReport): string {
  return [bound ? 1 : 0, list(times), list(ages), running, queued, mayBegin, round, mean.toFixed(2)].join(' ')
}

/** Undefined for a text that no process of this library posts. */
export function decodeReport(text: string): LoadReport | undefined {
  const [bound, timeList = '', ageList = '', ...numbers] = text.split(' ')
  const [running = Number.NaN, queued = 0, mayBegin = 0, round = 0, mean = 0] = numbers.map(Number)
  const [times, ages] = [numbersOf(timeList), numbersOf(ageList)]
  const all = [running, queued, mayBegin, round, mean, ...times, ...ages]
  const isSound = all.every((number) => number >= 0 && number < Infinity)
  return isSound ? { running, queued, mayBegin, round, mean, bound: bound === '1', times, ages } : undefined
}

function list(numbers: readonly number[]): string {
  return numbers.map((number) => number.toFixed(1)).join(',')
}

function numbersOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(',').map(Number)
}
