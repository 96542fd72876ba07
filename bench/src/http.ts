// What a hit over HTTP costs, and what 500 clients at once do to the handler.
import { startRedis } from '@cattlegrid/testkit'
import { appStarter, type StartApp } from './http/app-members.ts'
import { expressApps } from './http/express-apps.ts'
import { fastifyApps } from './http/fastify-apps.ts'
import { herdTables } from './http/herds.ts'
import { GOALS, type OriginTraits, OURS } from './http/origin.ts'
import { loadTable } from './http/lone-loads.ts'
import { isInstalled, proxies } from './http/proxies.ts'
import { privateTable } from './http/private-answers.ts'
import { requestRate, STALE } from './http/rate.ts'
import { refreshTable } from './http/refreshes.ts'
import { loadGenerator, type LoadGenerator } from './http/wrk.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import type { Findings, Row, Table, Target } from './run/result.ts'
import { figureOf, interleave, ratio, type Seen } from './run/rounds.ts'

const FLOORS = { express: 'Express, sends a string', fastify: 'Fastify, sends a string' }
const NGINX = 'nginx proxy_cache'
const names = [
  ...Object.keys(expressApps),
  ...Object.keys(fastifyApps),
  ...OURS.map((name) => name + STALE),
  ...Object.keys(proxies),
]
const quick: OriginTraits = {
  loadTime: 0,
  fails: false,
  ttl: 3_600_000,
  stale: 0,
  redis: undefined,
  namespace: 'http',
}

await runBench('http', (options) => withCleanup((later) => measureHttp(options, later)))

async function measureHttp(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const herd = await startMember('http/herd-member.js')
  later(() => herd.stop())
  const generator = loadGenerator(herd, options.smoke)
  const start = appStarter(options.smoke, later)
  const hits = await measureHits(options, generator, start)
  const herds = await herdTables(options, { herd, start, redis: server.url })
  const refreshes = await refreshTable(options, start)
  const loads = await loadTable(options, start)
  const privates = await privateTable(options, generator.load, start, server.url)
  return {
    tables: [...hits.tables, ...herds.tables, ...loads.tables, ...refreshes.tables, ...privates.tables],
    targets: [...hits.targets, ...herds.targets, ...loads.targets, ...refreshes.targets],
  }
}

async function measureHits(
  options: BenchOptions,
  { name: generator, load }: LoadGenerator,
  start: StartApp,
): Promise<Findings> {
  const wanted = chosen(names, options)
  const contenders = wanted
    .filter(isInstalled)
    .map((name) => ({ name, measure: () => requestRate(name, { traits: quick, load, start }, options.smoke) }))
  const seen = await interleave(contenders, Math.min(options.rounds, 9))
  return { tables: [hitTable(wanted, seen, generator)], targets: hitTargets(seen) }
}

function floorOf(name: string): string {
  return name.startsWith('Express') ? FLOORS.express : FLOORS.fastify
}

function hitTable(all: readonly string[], seen: Seen, generator: string): Table {
  const rows = all.map((name): Row => {
    const is = name.includes('cattlegrid') ? 'ours' : name === floorOf(name) ? 'floor' : 'peer'
    if (!seen.has(name)) return { name, is, cells: { rate: 'not installed here' } }
    return {
      name,
      is,
      cells: {
        rate: figureOf(seen, name, 'rate'),
        ratio: ratio(seen, name, floorOf(name), 'rate'),
        nginx: seen.has(NGINX) ? ratio(seen, name, NGINX, 'rate') : '',
        cpu: figureOf(seen, name, 'cpu'),
        byCpu: ratio(seen, floorOf(name), name, 'cpu'),
      },
    }
  })
  return {
    id: 'http-hit',
    title: `Hit over HTTP: 10 KB of JSON, 64 connections, one server process, load by ${generator}`,
    columns: [
      { id: 'rate', title: 'requests/s', digits: 0 },
      { id: 'ratio', title: 'string handler = 1', digits: 2 },
      { id: 'nginx', title: 'nginx = 1', digits: 2 },
      { id: 'cpu', title: 'server CPU, µs', digits: 1 },
      { id: 'byCpu', title: 'the same by CPU', digits: 2 },
    ],
    rows,
  }
}

function hitTargets(seen: Seen): Target[] {
  const aims = [
    ...Object.entries(GOALS).map(([name, { bare, hit }]) => [name, bare, hit] as const),
    ['Fastify, cattlegrid', NGINX, 0.8] as const,
  ]
  return aims.flatMap(([name, other, wanted]): Target[] =>
    seen.has(name) && seen.has(other)
      ? [
          {
            what: `Hit over HTTP: ${name}, against ${other}`,
            op: '>=',
            wanted,
            got: ratio(seen, name, other, 'rate'),
            unit: '×',
          },
        ]
      : [],
  )
}
