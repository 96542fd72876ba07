import { expect, test } from '@jest/globals'
import { until } from '../../../test/support/until.ts'
import { Aftermath, type SideFigures } from '../src/demo/live/aftermath.ts'
import type { ApiProcess } from '../src/demo/live/api-process.ts'
import { tell } from '../src/demo/live/sentence.ts'
import { Show } from '../src/demo/live/show.ts'
import { RedisControl } from '../src/demo/live/redis-control.ts'

const server = {
  url: 'redis://127.0.0.1:6379',
  port: 6379,
  pid: undefined,
  stop: async () => undefined,
  pause: () => undefined,
  resume: () => undefined,
  kill: async () => undefined,
}

/** A process that is stopped in the middle of so many loads. */
function processWith(running: number): ApiProcess {
  return { pid: 7, loads: { at: 0, running, reading: running, newest: 0 } } as ApiProcess
}

function oneSide() {
  const databaseUrl = Promise.resolve('')
  const show = new Show({ databaseUrl, redis: new RedisControl(server), onSpawn: () => undefined })
  const side = show.sides.find(({ fleet }) => fleet.strategy === 'cattlegrid')
  if (side === undefined) throw new Error('no side')
  const aftermath = new Aftermath([side])
  const respond = (latency: number, process?: ApiProcess, sentAt = performance.now() + 1): void =>
    side.listeners.forEach((listener) => listener({ latency, revision: 1, waited: false, sentAt, process }))
  return { side, aftermath, respond }
}

test('the longest wait is that of a request that was sent since the press, to a process that runs', () => {
  const { aftermath, respond } = oneSide()
  const stopped = processWith(0)
  aftermath.sides[0]?.stopped(stopped)
  respond(70)
  respond(9_000, stopped)
  respond(9_000, processWith(0), 0)
  expect(aftermath.figures()).toMatchObject([{ strategy: 'cattlegrid', longestWait: 70 }])
})

test('a request without a response waits on', async () => {
  const { side, aftermath } = oneSide()
  const sentAt = performance.now() + 1
  side.clients.open.add({ sentAt, process: processWith(0) })
  await until(() => performance.now() > sentAt + 20)
  expect(aftermath.figures()[0]?.longestWait).toBeGreaterThanOrEqual(20)
})

test('the loads of the stopped process are not further ones', () => {
  const { side, aftermath } = oneSide()
  side.fleet.begun += 3
  aftermath.sides[0]?.stopped(processWith(2))
  side.fleet.begun += 1
  expect(aftermath.figures()).toMatchObject([{ pid: 7, loads: 2 }])
})

test('what happens after the end is not counted', () => {
  const { side, aftermath, respond } = oneSide()
  aftermath.end()
  side.fleet.begun += 1
  side.figures.errors += 1
  respond(70)
  expect(aftermath.figures()).toMatchObject([{ loads: 0, errors: 0, longestWait: 0 }])
})

function figures(strategy: SideFigures['strategy'], loads: number, longestWait: number, more = {}): SideFigures {
  return { strategy, loads, longestWait, errors: 0, outdated: 0, ...more }
}

test('a press is told in sentences, with the figures of cattlegrid and of the naive lock', () => {
  const sides = [figures('token-lock', 1, 5_083, { errors: 25 }), figures('cattlegrid', 1, 34)]
  expect(tell("Killed cattlegrid's process 7 in mid-load", sides, { further: true })).toBe(
    "Killed cattlegrid's process 7 in mid-load: 1 further load, nobody waited longer than 0.03 s. The naive lock: 1 further load, 5.1 s, 25 errors.",
  )
})

test('that no answer was outdated is told where that is the question', () => {
  const sides = [figures('token-lock', 2, 60, { outdated: 1 }), figures('cattlegrid', 0, 1_240)]
  expect(tell('It went on', sides, { outdated: true })).toBe(
    'It went on: no loads, nobody waited longer than 1.2 s, no outdated answers. The naive lock: 2 loads, 0.06 s, 1 outdated answer.',
  )
})
