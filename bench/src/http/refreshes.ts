// How fast stale answers are refreshed behind their clients: every request finds another stale entry.
import { type BenchOptions, chosen } from '../run/bench.ts'
import { withCleanup } from '../run/cleanup.ts'
import type { Findings } from '../run/result.ts'
import { figureOf, figuresOf, interleave } from '../run/rounds.ts'
import type { StartApp } from './app-members.ts'
import { expressRefreshFloors } from './express-apps.ts'
import { fastifyRefreshFloors } from './fastify-apps.ts'
import { GOALS, OURS } from './origin.ts'

const NAMES = [...OURS, ...Object.keys({ ...expressRefreshFloors, ...fastifyRefreshFloors })]
const TTL = 100
/** What is asked for at a time. */
const ANSWERS = 3000
const FEW = 100
/** How often everything is asked for and refreshed before it is measured. */
const WARM_UPS = 4

export async function refreshTable(options: BenchOptions, start: StartApp): Promise<Findings> {
  const names = chosen(NAMES, options)
  const contenders = names.map((name) => ({ name, measure: () => refreshRate(name, start, options.smoke) }))
  const seen = await interleave(contenders, Math.min(options.rounds, 5))
  return {
    tables: [
      {
        id: 'http-refresh',
        title: 'Stale answers, each refreshed behind its client: 10 KB, 64 connections, one process',
        columns: [
          { id: 'rate', title: 'refreshes/s', digits: 0 },
          { id: 'cpu', title: 'server CPU for answer and refresh, µs', digits: 0 },
          { id: 'busy', title: 'refreshes/s of server CPU', digits: 0 },
        ],
        rows: names.map((name) => ({
          name,
          is: OURS.includes(name) ? 'ours' : 'floor',
          cells: figuresOf(seen, name, ['rate', 'cpu', 'busy']),
        })),
      },
    ],
    targets: OURS.filter((name) => seen.has(name)).map((name) => ({
      what: `Background refreshes, the stale answers included: ${name}`,
      op: '>=',
      wanted: GOALS[name]?.refreshes ?? Number.NaN,
      got: figureOf(seen, name, 'busy'),
      unit: 'per second of server CPU',
    })),
  }
}

/** The refreshes that an app does in a second, those in a second of its CPU, and the CPU of one with its answer, µs. */
export async function refreshRate(name: string, start: StartApp, smoke: boolean): Promise<Record<string, number>> {
  const count = smoke ? FEW : ANSWERS
  return await withCleanup(async (later) => {
    const member = await start(later)
    const traits = { loadTime: 0, fails: false, ttl: TTL, stale: 3_600_000, redis: undefined, namespace: 'refresh' }
    await member.ask('open', name, traits)
    for (let left = WARM_UPS; left > 0; left -= 1) await member.ask('refreshes', '/thing/', count)
    const { rate, cpu } = await member.ask<{ rate: number; cpu: number }>('refreshes', '/thing/', count)
    return { rate, cpu: cpu / 1000, busy: 1e9 / cpu }
  })
}
