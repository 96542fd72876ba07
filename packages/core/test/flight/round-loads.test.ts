import { expect, test } from '@jest/globals'
import { RoundLoads, type RunningLoad } from '../../src/flight/round-loads.ts'

const SAMPLES = 64

/** A process with `atOnce` loads, each of which takes 600 ms and is replaced by another one when it ends. */
function loadsAfter(time: number, atOnce: number, processes: number): ReturnType<RoundLoads['told']> {
  const loads = new RoundLoads(SAMPLES, 0)
  let running = new Set<RunningLoad>()
  for (let now = 0; now <= time; now += 600 / atOnce) {
    for (const load of running)
      if (now - load.since >= 600) {
        loads.noteTime(load, now - load.since)
        running = new Set([...running].filter((one) => one !== load))
      }
    if (running.size < atOnce) running.add(loads.begin(96, processes, now))
  }
  return loads.told(running, processes, time)
}

test('the samples of a round all end, however many other loads run by then', () => {
  const { times, ages } = loadsAfter(1_500, 24, 4)
  expect([times.length, ages]).toEqual([SAMPLES / 4, []])
})

test('a sample that has not ended is told with its age', () => {
  const { times, ages } = loadsAfter(500, 24, 4)
  expect([times, ages.length]).toEqual([[], SAMPLES / 4])
})

test('a load whose time tells nothing gives its place among the samples to another one', () => {
  const loads = new RoundLoads(SAMPLES, 0)
  for (let load = 0; load < SAMPLES / 4; load += 1) loads.forget(loads.begin(96, 4, 0))
  const running = new Set(Array.from({ length: 24 }, () => loads.begin(96, 4, 0)))
  expect(loads.told(running, 4, 10).ages).toHaveLength(SAMPLES / 4)
})
