// What the lease itself is worth: how soon its followers wake, and how long a dead leader stands in the way.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import type { BenchOptions } from '../run/bench.ts'
import { at, figure } from '../run/figure.ts'
import type { RedisMeter } from '../run/redis-meter.ts'
import type { Findings, Table } from '../run/result.ts'
import { interleave, figureOf } from '../run/rounds.ts'
import type { Fleet } from './fleet.ts'

const HOUR = 3_600_000
const TRIALS = 20
/** No multiple of the naive lock's 50 ms: it would always ask at the right moment. */
const LOAD_TIME = 75
const WAKERS = ['cattlegrid', 'naive lock, one flight', 'naive lock']

export async function leaseTable(url: string, fleet: Fleet, _: RedisMeter, options: BenchOptions): Promise<Findings> {
  const contenders = WAKERS.map((name) => ({ name, measure: () => wake(name, fleet, options.smoke ? 2 : TRIALS) }))
  const seen = await interleave(contenders, Math.min(options.rounds, 5))
  const p50 = figureOf(seen, 'cattlegrid', 'p50')
  const wakes: Table = {
    id: 'stampede-wake',
    title: 'From the end of the load to the answer of a follower in another process',
    columns: [
      { id: 'p50', title: 'p50, ms', digits: 2 },
      { id: 'p99', title: 'p99, ms', digits: 2 },
    ],
    rows: WAKERS.map((name) => ({
      name,
      is: name === 'cattlegrid' ? 'ours' : 'peer',
      cells: { p50: figureOf(seen, name, 'p50'), p99: figureOf(seen, name, 'p99') },
    })),
  }
  const deaths = await killed(url, fleet, options.smoke ? 1 : Math.min(options.rounds, 5))
  return {
    tables: [wakes, deaths.table],
    targets: [
      { what: 'A follower wakes, commit included', op: '<=', wanted: 3, got: p50, unit: 'ms p50' },
      ...deaths.targets,
    ],
  }
}

/** Two processes, one caller in each: one leads, the other follows. */
async function wake(name: string, fleet: Fleet, trials: number): Promise<Record<string, number>> {
  await fleet.open(name, { loadTime: LOAD_TIME, ttl: HOUR, stale: 0 }, { processes: 2 })
  const delays: number[] = []
  for (let trial = 0; trial < trials; trial += 1) {
    const seen = await fleet.each({ keys: [`wake-${trial}`], callers: 1, patience: 5000 })
    const ended = Math.max(...seen.flatMap((one) => one?.loaded ?? []))
    const follower = seen.find((one) => one?.loads.length === 0)
    if (follower !== undefined) delays.push(follower.lastAt - ended)
  }
  const sorted = delays.toSorted((one, other) => one - other)
  return { p50: at(sorted, 0.5), p99: at(sorted, 0.99) }
}

/** The leader is killed in the middle of its load; the lease, of 1 s, is all that knows of it. */
async function killed(url: string, fleet: Fleet, rounds: number): Promise<Omit<Findings, 'tables'> & { table: Table }> {
  const beyond: number[] = []
  const loads: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const found = await kill(url, fleet, `killed-${round}`)
    beyond.push(found.beyond)
    loads.push(found.loads)
  }
  const late = figure(beyond)
  const further = figure(loads)
  return {
    table: {
      id: 'stampede-killed',
      title: 'The leader is killed (SIGKILL) in mid-load; 8 processes × 50 callers, leases of 1 s',
      columns: [
        { id: 'beyond', title: 'next load after the end of its lease, ms', digits: 1 },
        { id: 'loads', title: 'further loads', digits: 0 },
      ],
      rows: [{ name: 'cattlegrid, short lease', is: 'ours', cells: { beyond: late, loads: further } }],
    },
    targets: [
      { what: 'Leader killed: next leader after the end of its lease', op: '<=', wanted: 50, got: late, unit: 'ms' },
      { what: 'Leader killed: further loads', op: '=', wanted: 1, got: further, unit: 'loads' },
    ],
  }
}

async function kill(url: string, fleet: Fleet, key: string): Promise<{ beyond: number; loads: number }> {
  await fleet.open('cattlegrid, short lease', { loadTime: 600, ttl: HOUR, stale: 0 })
  const burst = fleet.each({ keys: [key], callers: 50, patience: 10_000 })
  const leader = await leaderOf(fleet)
  const remaining = await lifeOfLease(url, fleet.namespace, key)
  fleet.members[leader]?.signal('SIGKILL')
  const freeAt = performance.timeOrigin + performance.now() + remaining
  const seen = await burst
  await fleet.revive(leader)
  const loads = seen.flatMap((one) => one?.loads ?? [])
  return { beyond: Math.min(...loads) - freeAt, loads: loads.length }
}

async function leaderOf(fleet: Fleet): Promise<number> {
  for (;;) {
    const loads = await Promise.all(fleet.members.map((member) => member.ask<readonly number[]>('loads')))
    const leader = loads.findIndex(({ length }) => length > 0)
    if (leader >= 0) return leader
    await sleep(20)
  }
}

/** While a cold key loads, its lease is all that Redis has of it. */
async function lifeOfLease(url: string, namespace: string, key: string): Promise<number> {
  const client = createClient({ url })
  await client.connect()
  const names = (await client.keys(`${namespace}*`)).filter((name) => name.includes(key))
  const lives = await Promise.all(names.map((name) => client.pTTL(name)))
  await client.close()
  return Math.max(...lives)
}
