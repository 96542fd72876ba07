// Cost as work grows: each table has a column for each amount of one thing, and nothing else changes.
import { startRedis } from '@cattlegrid/testkit'
import { type BenchOptions, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { type Figure, figure } from './run/figure.ts'
import { type Member, startMember } from './run/member.ts'
import { meter } from './run/redis-meter.ts'
import { amountColumns, type Findings, type Row, type Table } from './run/result.ts'
import { Fleet } from './stampede/fleet.ts'

const MOST_ROUNDS = 3
const OURS = 'cattlegrid'
const FLOOR = 'floor'

/** How to measure one point. */
type Point = (member: Member, x: number) => Promise<number>

interface Line {
  readonly name: string
  readonly is: Row['is']
  readonly point: Point
}

/** What one table measures: each line at each amount. */
interface Sheet {
  readonly id: string
  readonly title: string
  readonly xs: readonly number[]
  readonly lines: readonly Line[]
}

await runBench('curves', (options) => withCleanup((later) => measureCurves(options, later)))

async function measureCurves(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const other = await startMember('curves-member.js', [server.url])
  later(() => other.stop())
  const tables: Table[] = []
  for (const sheet of sheets(options.smoke, other)) tables.push(await measure(sheet, server.url, options))
  tables.push(await processes(server.url, options))
  return { tables, targets: [] }
}

function sheets(smoke: boolean, other: Member): readonly Sheet[] {
  const hits = smoke ? 500 : 200_000
  const few = smoke ? 20 : 2000
  return [
    {
      id: 'curve-keys',
      title: 'CPU of a hit in process, ns, by the number of keys',
      xs: smoke ? [100] : [1000, 10_000, 100_000, 1_000_000],
      lines: [
        { name: OURS, is: 'ours', point: (member, keys) => member.ask('keys', 'ours', keys, hits) },
        { name: 'async over a Map', is: 'floor', point: (member, keys) => member.ask('keys', FLOOR, keys, hits) },
      ],
    },
    {
      id: 'curve-callers',
      title:
        'CPU of a caller of a missing key, µs, by the callers that ask for it at once; one load serves all of them',
      xs: smoke ? [1, 10] : [1, 10, 100, 1000, 2500],
      lines: [
        { name: 'in memory', is: 'ours', point: (member, callers) => member.ask('callers', 'memory', callers) },
        { name: 'in Redis', is: 'ours', point: (member, callers) => member.ask('callers', 'redis', callers) },
      ],
    },
    {
      id: 'curve-tags',
      title: 'CPU of a hit in the near cache, ns, by the tags of its entry',
      xs: smoke ? [1] : [1, 3, 10, 30, 99],
      lines: [{ name: OURS, is: 'ours', point: (member, tags) => member.ask('tags', tags, hits) }],
    },
    {
      id: 'curve-bytes',
      title: 'Client CPU of a hit in Redis, µs, by the bytes of its value',
      xs: smoke ? [100] : [100, 1000, 10_000, 100_000, 1_000_000, 4_000_000],
      lines: [
        { name: OURS, is: 'ours', point: (member, size) => member.ask('bytes', 'ours', size, asMany(few, size)) },
        {
          name: 'GET + JSON.parse',
          is: 'floor',
          point: (member, size) => member.ask('bytes', FLOOR, size, asMany(few, size)),
        },
      ],
    },
    {
      id: 'curve-invalidations',
      title:
        'CPU of a hit in the near cache, loads included, µs, by how often a second another process invalidates its tag',
      xs: smoke ? [10] : [1, 10, 100, 500],
      lines: [{ name: OURS, is: 'ours', point: (member, rate) => underInvalidation(member, other, rate, smoke) }],
    },
  ]
}

/** Large values are read less often: a point shall take a second, not a minute. */
function asMany(hits: number, size: number): number {
  return Math.max(10, Math.ceil(hits / Math.max(1, size / 5000)))
}

async function underInvalidation(member: Member, other: Member, rate: number, smoke: boolean): Promise<number> {
  const namespace = `invalidated-${rate}-${Date.now()}`
  const duration = smoke ? 100 : 2000
  const [us] = await Promise.all([
    member.ask<number>('invalidated', namespace, duration),
    other.ask('invalidate', namespace, rate, duration),
  ])
  return us
}

/** A process for each line, so that one has nothing of the other in its memory. */
async function measure(sheet: Sheet, redis: string, options: BenchOptions): Promise<Table> {
  const { id, title, xs, lines } = sheet
  const rounds = options.smoke ? 1 : Math.min(options.rounds, MOST_ROUNDS)
  const rows: Row[] = []
  for (const { name, is, point } of lines) {
    const member = await startMember('curves-member.js', [redis])
    try {
      const cells: Record<string, Figure> = {}
      for (const x of xs) {
        const seen: number[] = []
        for (let round = 0; round < rounds; round += 1) seen.push(await point(member, x))
        cells[x] = figure(seen)
      }
      rows.push({ name, is, cells })
    } finally {
      await member.stop()
    }
  }
  return { id, title, columns: amountColumns(xs), rows }
}

/** A herd of 20 callers a process on a cold key: what each process sends, and how many loads there are. */
async function processes(redis: string, { smoke }: BenchOptions): Promise<Table> {
  const look = await meter(redis)
  const fleet = new Fleet(redis, look, 16)
  const sizes = smoke ? [1, 2] : [1, 2, 4, 8, 16]
  const sent: Record<string, number> = {}
  const loads: Record<string, number> = {}
  for (const size of sizes) {
    await fleet.open('cattlegrid', { loadTime: 200, ttl: 3_600_000, stale: 0 }, { processes: size })
    const burst = (key: string): Promise<Record<string, number>> =>
      fleet.burst({ keys: [key], callers: 20, patience: 5000 })
    sent[size] = await fleet.sent(() => burst('counted'))
    loads[size] = (await burst('seen'))['loads'] ?? 0
  }
  await fleet.stop()
  await look.close()
  return {
    id: 'curve-processes',
    title: 'A cold key, by the processes that ask for it with 20 callers each',
    columns: amountColumns(sizes),
    rows: [
      { name: 'loads', is: 'ours', cells: loads },
      { name: 'commands a process', is: 'ours', cells: sent },
    ],
  }
}
