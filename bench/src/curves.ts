// Cost as work grows: each curve has so much of one thing on its x, and nothing else changes.
import { startRedis } from '@cattlegrid/testkit'
import { type BenchOptions, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { figure } from './run/figure.ts'
import { type Member, startMember } from './run/member.ts'
import { meter } from './run/redis-meter.ts'
import type { Curve, Findings, Plot } from './run/result.ts'
import { Fleet } from './stampede/fleet.ts'

const MOST_ROUNDS = 3
const OURS = 'cattlegrid'
const FLOOR = 'floor'

/** How to measure one point. */
type Point = (member: Member, x: number) => Promise<number>

interface Line {
  readonly name: string
  readonly is: Curve['is']
  readonly point: Point
}

interface Sheet extends Omit<Plot, 'curves'> {
  readonly xs: readonly number[]
  readonly lines: readonly Line[]
}

await runBench('curves', (options) => withCleanup((later) => measureCurves(options, later)))

async function measureCurves(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const other = await startMember('curves-member.js', [server.url])
  later(() => other.stop())
  const plots: Plot[] = []
  for (const sheet of sheets(options.smoke, other)) {
    plots.push(await draw(sheet, server.url, options))
  }
  plots.push(await processes(server.url, options))
  return { tables: [], targets: [], plots }
}

function sheets(smoke: boolean, other: Member): readonly Sheet[] {
  const hits = smoke ? 500 : 200_000
  const few = smoke ? 20 : 2000
  return [
    {
      id: 'curve-keys',
      title: 'A hit in process, by the keys that are there',
      x: 'keys',
      y: 'CPU of a hit, ns',
      xs: smoke ? [100] : [1000, 10_000, 100_000, 1_000_000],
      lines: [
        { name: OURS, is: 'ours', point: (member, keys) => member.ask('keys', 'ours', keys, hits) },
        { name: 'async over a Map', is: 'floor', point: (member, keys) => member.ask('keys', FLOOR, keys, hits) },
      ],
    },
    {
      id: 'curve-callers',
      title: 'A miss, by the callers that come for the key at once',
      x: 'callers of one key',
      y: 'CPU of a caller, µs (one load for all of them)',
      xs: smoke ? [1, 10] : [1, 10, 100, 1000, 2500],
      lines: [
        { name: 'in memory', is: 'ours', point: (member, callers) => member.ask('callers', 'memory', callers) },
        { name: 'in Redis', is: 'ours', point: (member, callers) => member.ask('callers', 'redis', callers) },
      ],
    },
    {
      id: 'curve-tags',
      title: 'A hit of a near copy, by the tags of its entry',
      x: 'tags of an entry',
      y: 'CPU of a hit, ns',
      xs: smoke ? [1] : [1, 3, 10, 30, 99],
      lines: [{ name: OURS, is: 'ours', point: (member, tags) => member.ask('tags', tags, hits) }],
    },
    {
      id: 'curve-bytes',
      title: 'A hit in Redis, by the size of its value',
      x: 'bytes of a value',
      y: 'client CPU of a hit, µs',
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
      title: 'A hit of 100 near copies that carry one tag, while another process invalidates it',
      x: 'invalidations a second',
      y: 'CPU of a hit, µs (loads included)',
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
async function draw({ xs, lines, ...plot }: Sheet, redis: string, { rounds, smoke }: BenchOptions): Promise<Plot> {
  const curves: Curve[] = []
  for (const { name, is, point } of lines) {
    const member = await startMember('curves-member.js', [redis])
    try {
      const points: (readonly [number, number])[] = []
      for (const x of xs) {
        const seen: number[] = []
        for (let round = 0; round < (smoke ? 1 : Math.min(rounds, MOST_ROUNDS)); round += 1)
          seen.push(await point(member, x))
        points.push([x, figure(seen).median])
      }
      curves.push({ name, is, points })
    } finally {
      await member.stop()
    }
  }
  return { ...plot, curves }
}

/** A herd of 20 callers a process on a cold key: what each process sends, and how many loads there are. */
async function processes(redis: string, { smoke }: BenchOptions): Promise<Plot> {
  const look = await meter(redis)
  const fleet = new Fleet(redis, look, 16)
  const sent: (readonly [number, number])[] = []
  const loads: (readonly [number, number])[] = []
  for (const size of smoke ? [1, 2] : [1, 2, 4, 8, 16]) {
    await fleet.open('cattlegrid', { loadTime: 200, ttl: 3_600_000, stale: 0 }, { processes: size })
    const burst = (key: string): Promise<Record<string, number>> =>
      fleet.burst({ keys: [key], callers: 20, patience: 5000 })
    sent.push([size, await fleet.sent(() => burst('counted'))])
    loads.push([size, (await burst('seen'))['loads'] ?? 0])
  }
  await fleet.stop()
  await look.close()
  return {
    id: 'curve-processes',
    title: 'A cold key, by the processes that come for it with 20 callers each',
    x: 'processes',
    y: 'of the whole fleet, and of each process',
    curves: [
      { name: 'loads', is: 'ours', points: loads },
      { name: 'commands a process', is: 'peer', points: sent },
    ],
  }
}
