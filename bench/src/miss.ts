// What a miss costs: in process, in Redis, and for each caller of a herd that waits for one load.
import { startRedis } from '@cattlegrid/testkit'
import { OURS, places, READ_LOCK_WRITE, SCOPED_FETCH, SHARED_PROMISE } from './contenders/misses.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import type { Findings, Row, Table } from './run/result.ts'
import { figuresOf, interleave, ratio, type Seen } from './run/rounds.ts'

const FASTEST_PEER = 'lru-cache fetch'
const CALLERS = 2000
const TOGETHER = 64

/** One table. `ask`: the skill of the member and its arguments, for a whole run and for a smoke run. */
interface Scenario {
  readonly id: string
  readonly title: string
  readonly place: keyof typeof places
  readonly floor: string
  readonly ask: readonly [skill: string, count: number, each: number]
  readonly smoke: number
}

const scenarios: readonly Scenario[] = [
  {
    id: 'miss',
    title: 'Miss in process: keys that were never asked for, one await after another, a loader that returns at once',
    place: 'process',
    floor: SHARED_PROMISE,
    ask: ['miss', 30_000, 1],
    smoke: 500,
  },
  {
    id: 'miss-herd',
    title: `A herd in process: ${CALLERS.toLocaleString('en')} callers of one cold key, for each caller`,
    place: 'process',
    floor: SHARED_PROMISE,
    ask: ['herd', 30, CALLERS],
    smoke: 1,
  },
  {
    id: 'miss-redis',
    title: `Miss in Redis: keys that were never asked for, ${TOGETHER} at once`,
    place: 'redis',
    floor: READ_LOCK_WRITE,
    ask: ['miss', 100 * TOGETHER, TOGETHER],
    smoke: TOGETHER,
  },
]

await runBench('miss', (options) => withCleanup((later) => measureMisses(options, later)))

async function measureMisses(options: BenchOptions, later: Later): Promise<Findings> {
  const redis = await startRedis({ own: true })
  later(() => redis.stop())
  const tables: Table[] = []
  let inProcess: Seen | undefined
  for (const scenario of scenarios) {
    const names = chosen(places[scenario.place], options)
    const seen = await measure(scenario, names, options, redis.url)
    inProcess ??= seen
    tables.push(tableOf(scenario, names, seen))
  }
  return { tables, targets: inProcess === undefined ? [] : targets(inProcess) }
}

/** A new process for each contender: what another scenario left behind would be measured with this one. */
async function measure(
  { place, ask: [skill, count, each], smoke }: Scenario,
  names: readonly string[],
  options: BenchOptions,
  redis: string,
): Promise<Seen> {
  return await withCleanup(async (later) => {
    const contenders = []
    for (const name of names) {
      const member = await startMember('miss-member.js', place === 'redis' ? [name, redis] : [name])
      later(() => member.stop())
      const run = (): Promise<Record<string, number>> => member.ask(skill, options.smoke ? smoke : count, each)
      await run()
      contenders.push({ name, measure: run })
    }
    return await interleave(contenders, options.rounds)
  })
}

function tableOf({ id, title, floor }: Scenario, names: readonly string[], seen: Seen): Table {
  const rows = names.map((name): Row => {
    const { us, cpu } = figuresOf(seen, name, ['us', 'cpu'])
    return {
      name,
      is: name.startsWith(OURS) ? 'ours' : name === floor || name === SCOPED_FETCH ? 'floor' : 'peer',
      cells: { us: us ?? '', cpu: cpu ?? '', ratio: ratio(seen, name, floor, 'cpu') },
    }
  })
  const columns = [
    { id: 'us', title: 'µs', digits: 2 },
    { id: 'cpu', title: 'CPU, µs', digits: 2 },
    { id: 'ratio', title: 'CPU, floor = 1', digits: 1 },
  ]
  return { id, title, columns, rows }
}

function targets(seen: Seen): Findings['targets'] {
  if (!seen.has(OURS) || !seen.has(FASTEST_PEER)) return []
  const got = ratio(seen, OURS, FASTEST_PEER, 'cpu')
  const what = `Miss in process: CPU against ${FASTEST_PEER}, the fastest peer`
  return [{ what, op: '<=', wanted: 1.3, got, unit: '×' }]
}
