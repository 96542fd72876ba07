import { type Counted, type Counter, tryCounter } from './counter.ts'
import { counterSurprises, surprises } from './expectation.ts'
import type { Lock } from './lock.ts'
import { properties } from './properties/all.ts'
import type { Property } from './properties/property.ts'
import { type Trial, tryLock } from './trial.ts'
import type { Worlds } from './worlds/worlds.ts'

export interface LockTrial {
  readonly property: Property
  readonly trial: Trial
  /** Where it came out otherwise than told. */
  readonly surprises: readonly string[]
}

export interface LockReport {
  readonly lock: Lock
  readonly trials: readonly LockTrial[]
}

export interface CounterReport {
  readonly counter: Counter
  readonly counted: Counted
  readonly surprises: readonly string[]
}

/** Who is told while the lab works. */
export interface Audience {
  lock(report: LockReport): void
  counter(report: CounterReport): void
}

/** Puts every property to every lock, one after the other, and lets two callers count. */
export async function runLab(
  locks: readonly Lock[],
  counters: readonly Counter[],
  worlds: Worlds,
  audience: Audience,
): Promise<{ readonly locks: readonly LockReport[]; readonly counters: readonly CounterReport[] }> {
  const reports = { locks: [] as LockReport[], counters: [] as CounterReport[] }
  for (const lock of locks) {
    const report = { lock, trials: await tryAll(lock, worlds) }
    reports.locks.push(report)
    audience.lock(report)
  }
  for (const counter of counters) {
    const counted = await tryCounter(counter, worlds.shared.connections, worlds.freshName)
    const report = { counter, counted, surprises: counterSurprises(counter, counted) }
    reports.counters.push(report)
    audience.counter(report)
  }
  return reports
}

/** Each world plays its own properties, all worlds at once; without those for which there is no world. */
async function tryAll(lock: Lock, worlds: Worlds): Promise<LockTrial[]> {
  const tried = await Promise.all((['shared', 'own', 'pair'] as const).map((name) => tryIn(name, lock, worlds)))
  return properties.flatMap((property) => tried.flat().filter((one) => one.property === property))
}

async function tryIn(name: Property['world'], lock: Lock, worlds: Worlds): Promise<LockTrial[]> {
  const trials: LockTrial[] = []
  const world = worlds[name]
  if (world === undefined) return trials
  for (const property of properties.filter((one) => one.world === name)) {
    const trial = await tryLock(lock, property, world, worlds.freshName)
    trials.push({ property, trial, surprises: surprises(lock, property, trial) })
  }
  return trials
}
