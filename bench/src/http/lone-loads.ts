// What a cache costs a request that runs its handler: every request asks for another URL.
import { type BenchOptions, chosen } from '../run/bench.ts'
import { withCleanup } from '../run/cleanup.ts'
import type { Figure } from '../run/figure.ts'
import type { Findings, Row } from '../run/result.ts'
import { difference, figureOf, interleave, type Seen } from '../run/rounds.ts'
import type { StartApp } from './app-members.ts'
import type { OriginTraits } from './origin.ts'

interface Contender {
  readonly app: string
  readonly is: Row['is']
  /** The same app without a cache. Default: it is one. */
  readonly bare?: string
  readonly isPrivate?: boolean
}

const EXPRESS = 'Express, sends a string'
const FASTIFY = 'Fastify, sends a string'

const CONTENDERS: Readonly<Record<string, Contender>> = {
  [EXPRESS]: { app: EXPRESS, is: 'floor' },
  'Express, recorded by hand': { app: 'Express, recorded by hand', is: 'floor', bare: EXPRESS },
  'Express, apicache': { app: 'Express, apicache', is: 'peer', bare: EXPRESS },
  'Express, cattlegrid': { app: 'Express, cattlegrid', is: 'ours', bare: EXPRESS },
  'Express, cattlegrid, private': { app: 'Express, cattlegrid', is: 'ours', bare: EXPRESS, isPrivate: true },
  [FASTIFY]: { app: FASTIFY, is: 'floor' },
  'Fastify, recorded by hand': { app: 'Fastify, recorded by hand', is: 'floor', bare: FASTIFY },
  'Fastify, cattlegrid': { app: 'Fastify, cattlegrid', is: 'ours', bare: FASTIFY },
  'Fastify, cattlegrid, private': { app: 'Fastify, cattlegrid', is: 'ours', bare: FASTIFY, isPrivate: true },
}
const OURS = Object.keys(CONTENDERS).filter((name) => CONTENDERS[name]?.is === 'ours')
/** Over the bare route, µs. */
const WANTED = 60
const TRAITS: OriginTraits = {
  loadTime: 0,
  fails: false,
  ttl: 3_600_000,
  stale: 0,
  redis: undefined,
  namespace: 'load',
}
const WARM_UPS = 4

export async function loadTable(options: BenchOptions, start: StartApp): Promise<Findings> {
  const names = chosen(Object.keys(CONTENDERS), options)
  const contenders = names.map((name) => ({ name, measure: () => run(name, options.smoke ? 100 : 3000, start) }))
  const seen = await interleave(contenders, Math.min(options.rounds, 7))
  return {
    tables: [
      {
        id: 'http-load',
        title: 'Requests that run their handler, each for another URL: 10 KB, 64 connections, one process',
        columns: [
          { id: 'cpu', title: 'server CPU, µs', digits: 0 },
          { id: 'over', title: 'over the bare route, µs', digits: 0 },
        ],
        rows: names.map((name) => rowOf(name, seen)),
      },
    ],
    targets: OURS.flatMap((name) => {
      const got = overBare(name, seen)
      const what = `A request that runs its handler, over the bare route: ${name}`
      return got === undefined ? [] : [{ what, op: '<=' as const, wanted: WANTED, got, unit: 'µs of server CPU' }]
    }),
  }
}

function rowOf(name: string, seen: Seen): Row {
  const over = overBare(name, seen)
  return {
    name,
    is: CONTENDERS[name]?.is ?? 'peer',
    cells: { cpu: figureOf(seen, name, 'cpu'), over: over ?? '' },
  }
}

function overBare(name: string, seen: Seen): Figure | undefined {
  const bare = CONTENDERS[name]?.bare
  if (bare === undefined || !seen.has(bare) || !seen.has(name)) return undefined
  return difference(seen, name, bare, 'cpu')
}

/** In a process as warm as one at work. */
async function run(name: string, count: number, start: StartApp): Promise<Record<string, number>> {
  const { app, isPrivate = false } = CONTENDERS[name] as Contender
  return await withCleanup(async (later) => {
    const member = await start(later)
    await member.ask('open', app, { ...TRAITS, isPrivate })
    for (let left = WARM_UPS; left > 0; left -= 1) await member.ask('loads', `/thing/${left}-`, count)
    const { cpu } = await member.ask<{ cpu: number }>('loads', '/thing/0-', count)
    return { cpu: cpu / 1000 }
  })
}
