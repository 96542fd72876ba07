import { chosen } from '../run/bench.ts'
import { at } from '../run/figure.ts'
import { startMember } from '../run/member.ts'
import type { Findings, Target } from '../run/result.ts'
import { figuresOf, interleave, ratio, type Seen } from '../run/rounds.ts'
import type { OverloadOptions } from './options.ts'
import type { Played, Stage } from './play.ts'
import { kindOf, playAll } from './plays.ts'
import { NO_LIMIT, NO_LIMIT_AGAIN, OURS } from './rows.ts'
import { healthyScene } from './scenes.ts'
import type { Opening } from './member.ts'

const ROWS = [NO_LIMIT, NO_LIMIT_AGAIN, OURS]
const SHARES = [0.1, 0.5, 0.9]
const HOUR = 3_600_000
const COLUMNS = [
  { id: 'rate', title: 'values/s', digits: 0 },
  { id: 'p50', title: 'p50, ms', digits: 1 },
  { id: 'p99', title: 'p99, ms', digits: 1 },
]

/** What a limit costs where none is needed. */
export async function healthyTable(atOnce: number, stage: Stage, options: OverloadOptions): Promise<Findings> {
  const shares = options.smoke ? [0.5] : SHARES
  const found: Findings[] = []
  for (const share of shares) {
    const scene = healthyScene(atOnce, share, options.length)
    const { names, seen } = await playAll(scene, ROWS, stage, options, figures)
    const cells = (name: string) => figuresOf(seen, name, ['rate', 'p50', 'p99'])
    const rows = names.map((name) => ({ name, is: kindOf(name), cells: cells(name) }))
    found.push({
      tables: [{ id: `overload-${scene.id}`, title: scene.title, columns: COLUMNS, rows }],
      targets: names.filter((name) => name === OURS).flatMap((name) => targets(`${scene.title}: ${name}`, name, seen)),
    })
  }
  return { tables: found.flatMap(({ tables }) => tables), targets: found.flatMap((one) => one.targets) }
}

function figures({ calls, seconds }: Played): Record<string, number> {
  const values = calls.took.filter((_, place) => (calls.at[place] ?? -1) >= 0 && calls.end[place] === 'value')
  const sorted = values.toSorted((a, b) => a - b)
  return { rate: sorted.length / seconds.length, p50: at(sorted, 0.5), p99: at(sorted, 0.99) }
}

function targets(what: string, name: string, seen: Seen): readonly Target[] {
  if (!seen.has(NO_LIMIT)) return []
  return [
    { what, op: '>=', wanted: 0.98, got: ratio(seen, name, NO_LIMIT, 'rate'), unit: '× the values of no limit' },
    { what, op: '<=', wanted: 1.02, got: ratio(seen, name, NO_LIMIT, 'p99'), unit: '× the p99 of no limit' },
  ]
}

/** One call at a time, each of which loads, from a source that answers at once. */
export async function loneTable(stage: Stage, options: OverloadOptions): Promise<Findings> {
  const names = chosen([NO_LIMIT, OURS], options)
  const turns = names.map((name) => ({ name, measure: () => lone(name, stage, options.length.lone) }))
  const seen = await interleave(turns, options.smoke ? 1 : LONE_ROUNDS)
  const rows = names.map((name) => ({ name, is: kindOf(name), cells: figuresOf(seen, name, ['cpu', 'p50']) }))
  return {
    tables: [
      {
        id: 'overload-lone',
        title: 'A lone load, from a source that answers at once',
        columns: [
          { id: 'cpu', title: 'CPU, µs', digits: 1 },
          { id: 'p50', title: 'p50, µs', digits: 0 },
        ],
        rows,
      },
    ],
    targets: names
      .filter((name) => name !== NO_LIMIT && seen.has(NO_LIMIT))
      .map((name) => ({
        what: `A lone load: ${name}`,
        op: '<=',
        wanted: 1.05,
        got: ratio(seen, name, NO_LIMIT, 'cpu'),
        unit: '× the CPU of no limit',
      })),
  }
}

const LONE_ROUNDS = 7
let opened = 0

async function lone(row: string, { redis }: Stage, count: number): Promise<Record<string, number>> {
  const member = await startMember('overload/member.js')
  const opening: Opening = { row, redis, namespace: `lone-${(opened += 1)}`, ttl: HOUR, ports: [] }
  await member.ask('open', opening)
  // The compiler is to have seen the code.
  await member.ask('lone', count)
  const seen = await member.ask<Record<string, number>>('lone', count)
  await member.stop()
  return seen
}
