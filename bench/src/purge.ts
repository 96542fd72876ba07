// A purge of every entry under load: how long hits take meanwhile, and what the source must bear.
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@cattlegrid/testkit'
import type { Purge, Seen, SourceLoad } from './purge-member.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { at } from './run/figure.ts'
import { type Member, startMember } from './run/member.ts'
import type { Column, Findings, Target } from './run/result.ts'
import { figureOf, figuresOf, interleave } from './run/rounds.ts'

const BUDGET = { perSecond: 500, atOnce: 50 }
const PACED = 'expireTags, refreshBudget'
const MOST_ROUNDS = 3

interface Size {
  readonly processes: number
  readonly keys: number
  /** Calls a second of one process. */
  readonly rate: number
  /** How long the calls go on before the purge, and in all, ms. */
  readonly before: number
  readonly duration: number
  /** How many refreshes of other entries each process has made before. */
  readonly warmUp: number
}

const FULL: Size = { processes: 4, keys: 100_000, rate: 750, before: 2000, duration: 15_000, warmUp: 1000 }
const SMOKE: Size = { processes: 2, keys: 500, rate: 100, before: 200, duration: 1000, warmUp: 10 }

const COLUMNS: readonly Column[] = [
  { id: 'p50', title: 'p50 of hits, ms', digits: 1 },
  { id: 'p99', title: 'p99 of hits, ms', digits: 1 },
  { id: 'p99Before', title: 'p99 before the purge, ms', digits: 1 },
  { id: 'second', title: 'loads in the busiest second', digits: 0 },
  { id: 'atOnce', title: 'most loads at once', digits: 0 },
  { id: 'waiting', title: 'loads for which a caller waits', digits: 0 },
  { id: 'ofOne', title: 'most loads of one key', digits: 0 },
  { id: 'loads', title: 'loads', digits: 0 },
]

await runBench('purge', (options) => withCleanup((later) => measurePurges(options, later)))

async function measurePurges(options: BenchOptions, later: Later): Promise<Findings> {
  const { smoke, rounds } = options
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const size = smoke ? SMOKE : FULL
  const members = await Promise.all(
    Array.from({ length: size.processes }, () => startMember('purge-member.js', [server.url])),
  )
  for (const member of members) later(() => member.stop())
  const contender = (name: string, how: 'expire' | 'invalidate', budget: Purge['budget']) => ({
    name,
    measure: () => purge(members, size, how, budget),
  })
  const contenders = [
    contender(PACED, 'expire', BUDGET),
    contender('expireTags', 'expire', undefined),
    contender('invalidateTags', 'invalidate', undefined),
  ]
  const names = chosen(
    contenders.map(({ name }) => name),
    options,
  )
  const taking = contenders.filter(({ name }) => names.includes(name))
  const seen = await interleave(taking, Math.min(rounds, MOST_ROUNDS))
  const columns = COLUMNS.map(({ id }) => id)
  const target = (id: string, wanted: number, unit: string): Target => {
    const title = COLUMNS.find((column) => column.id === id)?.title.replace(', ms', '')
    return {
      what: `Soft purge of ${size.keys.toLocaleString('en')} entries: ${title}`,
      op: '<=',
      wanted,
      got: figureOf(seen, PACED, id),
      unit,
    }
  }
  return {
    tables: [
      {
        id: 'purge',
        title: `A purge of ${size.keys.toLocaleString('en')} entries by one tag, under ${size.processes * size.rate} calls a second of ${size.processes} processes; the source takes 40 ms; the budget is ${BUDGET.perSecond} a second and ${BUDGET.atOnce} at once`,
        columns: COLUMNS,
        rows: taking.map(({ name }) => ({ name, is: 'ours', cells: figuresOf(seen, name, columns) })),
      },
    ],
    targets: [
      target('p99', 10, 'ms'),
      target('second', BUDGET.perSecond, 'loads'),
      target('atOnce', BUDGET.atOnce, 'loads'),
      target('ofOne', 1, 'loads'),
    ],
  }
}

async function purge(
  members: readonly Member[],
  { keys, rate, before, duration, warmUp }: Size,
  how: 'expire' | 'invalidate',
  budget: Purge['budget'],
): Promise<Record<string, number>> {
  const all = (what: string, ...args: readonly unknown[]): Promise<unknown> =>
    Promise.all(members.map((member) => member.ask(what, ...args)))
  await all('open', { namespace: `purge-${Date.now()}`, keys, budget } satisfies Purge)
  await Promise.all(members.map((member, index) => member.ask('fill', index, members.length)))
  await all('warm', warmUp)
  const asking = Promise.all(members.map((member) => member.ask<Seen>('ask', rate, duration, before)))
  await sleep(before)
  await members[0]?.ask('purge', how)
  const seen = await asking
  return figuresOfPurge(
    seen.flatMap(({ early }) => early),
    seen.flatMap(({ hits }) => hits),
    seen.flatMap(({ loads }) => loads),
  )
}

function figuresOfPurge(
  early: readonly number[],
  hits: readonly number[],
  loads: readonly SourceLoad[],
): Record<string, number> {
  const sorted = hits.toSorted((a, b) => a - b)
  const begins = loads.map(({ begin }) => begin).toSorted((a, b) => a - b)
  const perKey = new Map<string, number>()
  for (const { key } of loads) perKey.set(key, (perKey.get(key) ?? 0) + 1)
  return {
    p50: at(sorted, 0.5),
    p99: at(sorted, 0.99),
    p99Before: at(
      early.toSorted((a, b) => a - b),
      0.99,
    ),
    second: busiestSecond(begins),
    atOnce: mostAtOnce(loads),
    waiting: loads.filter(({ background }) => !background).length,
    ofOne: Math.max(0, ...perKey.values()),
    loads: loads.length,
  }
}

/** The most moments in any second. */
function busiestSecond(sorted: readonly number[]): number {
  let first = 0
  let most = 0
  for (const [index, moment] of sorted.entries()) {
    while (moment - (sorted[first] ?? moment) >= 1000) first += 1
    most = Math.max(most, index - first + 1)
  }
  return most
}

function mostAtOnce(loads: readonly SourceLoad[]): number {
  const changes = loads.flatMap(({ begin, end }) => [
    { moment: begin, by: 1 },
    { moment: end, by: -1 },
  ])
  let running = 0
  let most = 0
  for (const { by } of changes.toSorted((a, b) => a.moment - b.moment || a.by - b.by)) {
    running += by
    most = Math.max(most, running)
  }
  return most
}
