import { type Key, type Program, redis } from './caller.ts'
import type { LabServers } from './servers.ts'
import { Callers, differences, type ExpectedRun, type Step } from './steps.ts'

const COUNTER: Key = { key: 'counter' }

/** The smallest critical section: two callers add one each, and the counter must say two. */
export interface Counter {
  readonly name: string
  increment(): Program<void>
  /** The worst interleaving. */
  readonly expected: ExpectedRun
}

export const counters: readonly Counter[] = [
  {
    name: 'GET, add one, SET',
    *increment() {
      const before = Number(yield redis('GET', COUNTER))
      yield redis('SET', COUNTER, before + 1)
    },
    expected: {
      id: 'counter-get-set',
      why: 'two increments made 1',
      steps: [
        ['A', 'GET counter', null],
        ['B', 'GET counter', null],
        ['B', 'SET counter 1', 'OK'],
        ['A', 'SET counter 1', 'OK'],
        ['C', 'GET counter', '1'],
      ],
    },
  },
  {
    name: 'INCR',
    *increment() {
      yield redis('INCR', COUNTER)
    },
    expected: {
      id: 'counter-incr',
      why: 'two increments made 2',
      steps: [
        ['A', 'INCR counter', 1],
        ['B', 'INCR counter', 2],
        ['C', 'GET counter', '2'],
      ],
    },
  },
]

export interface CounterReport {
  readonly counter: Counter
  readonly sum: number
  readonly steps: readonly Step[]
  /** Where the result differs from `expected`. */
  readonly unexpected: readonly string[]
}

/** Lets A pause in every place in turn while B counts, and reports the run with the smallest sum. */
export async function checkCounter(counter: Counter, { shared, newNamespace }: LabServers): Promise<CounterReport> {
  let worst: { sum: number; steps: readonly Step[] } = { sum: Infinity, steps: [] }
  for (let pauseAfter = 0, paused = true; paused; pauseAfter += 1) {
    const callers = new Callers(shared.connections, newNamespace())
    let sum = 0
    callers.start('A', counter.increment(), () => undefined)
    paused = await callers.proceed('A', pauseAfter)
    callers.start('B', counter.increment(), () => undefined)
    await callers.proceed('B')
    await callers.proceed('A')
    callers.start('C', readCounter(), (value) => void (sum = value))
    await callers.proceed('C')
    if (sum <= worst.sum) worst = { sum, steps: callers.steps }
  }
  const unexpected = differences(counter.expected, worst.steps, `two increments made ${worst.sum}`)
  return { counter, ...worst, unexpected }
}

function* readCounter(): Program<number> {
  return Number(yield redis('GET', COUNTER))
}
