import { Actors } from './actors.ts'
import { type Key, type Program, redis } from './command.ts'
import type { Step } from './step.ts'
import type { ToldStep } from './told.ts'
import type { Connections } from './worlds/connections.ts'

const COUNTER: Key = { key: 'counter' }

/** The smallest relative of a lock without exclusion: two callers add one each, and must have added two. */
export interface Counter {
  readonly id: string
  readonly name: string
  increment(): Program<void>
  /** How it goes; `sum` is what two increments make of it. */
  readonly told: { readonly steps: readonly ToldStep[]; readonly sum: number }
}

const readModifyWrite: Counter = {
  id: 'counter-get-set',
  name: 'GET, add one, SET',
  *increment() {
    const before = Number(yield redis('GET', COUNTER))
    yield redis('SET', COUNTER, before + 1)
  },
  told: {
    steps: [
      ['A', 'GET counter', null],
      ['B', 'GET counter', null],
      ['B', 'SET counter 1', 'OK'],
      ['A', 'SET counter 1', 'OK'],
      ['C', 'GET counter', '1'],
    ],
    sum: 1,
  },
}

const increment: Counter = {
  id: 'counter-incr',
  name: 'INCR',
  *increment() {
    yield redis('INCR', COUNTER)
  },
  told: {
    steps: [
      ['A', 'INCR counter', 1],
      ['B', 'INCR counter', 2],
      ['C', 'GET counter', '2'],
    ],
    sum: 2,
  },
}

export const counters: readonly Counter[] = [readModifyWrite, increment]

function* count(): Program<number> {
  return Number(yield redis('GET', COUNTER))
}

/** What was counted where it went worst: A pauses in every place in turn, and B counts meanwhile. */
export interface Counted {
  readonly sum: number
  readonly steps: readonly Step[]
}

export async function tryCounter(
  counter: Counter,
  connections: Connections,
  freshName: () => string,
): Promise<Counted> {
  let worst: Counted = { sum: Infinity, steps: [] }
  for (let pauseAfter = 0, paused = true; paused; pauseAfter += 1) {
    const actors = new Actors(connections, freshName())
    let sum = 0
    actors.begin('A', counter.increment(), () => undefined)
    paused = await actors.goOn('A', pauseAfter)
    actors.begin('B', counter.increment(), () => undefined)
    await actors.goOn('B')
    await actors.goOn('A')
    actors.begin('C', count(), (value) => void (sum = value))
    await actors.goOn('C')
    if (sum <= worst.sum) worst = { sum, steps: actors.steps }
  }
  return worst
}
