// What a hit over HTTP costs, and what 500 clients at once do to the handler.
import { startRedis } from '@cattlegrid/testkit'
import { expressApps } from './http/express-apps.ts'
import { fastifyApps } from './http/fastify-apps.ts'
import { herdTables } from './http/herds.ts'
import type { OriginTraits } from './http/origin.ts'
import { isInstalled, proxies } from './http/proxies.ts'
import { refreshTable } from './http/refreshes.ts'
import { loadGenerator, type Load } from './http/wrk.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { type Member, startMember } from './run/member.ts'
import type { Findings, Row, Table, Target } from './run/result.ts'
import { figureOf, interleave, ratio, type Seen } from './run/rounds.ts'

const FLOORS = { express: 'Express, sends a string', fastify: 'Fastify, sends a string' }
const NGINX = 'nginx proxy_cache'
const names = [...Object.keys(expressApps), ...Object.keys(fastifyApps), ...Object.keys(proxies)]
const quick: OriginTraits = {
  loadTime: 0,
  fails: false,
  ttl: 3_600_000,
  stale: 0,
  redis: undefined,
  namespace: 'http',
}

/** How long the load lasts that counts, and the one before it. */
const SECONDS = 2

interface Player {
  readonly url: string
  readonly cpu: () => number
}

await runBench('http', (options) => withCleanup((later) => measureHttp(options, later)))

async function measureHttp(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const herd = await startMember('http/herd-member.js')
  later(() => herd.stop())
  const hits = await measureHits(options, herd)
  const herds = await herdTables(options, herd, server.url)
  const refreshes = await refreshTable(options, herd)
  return {
    tables: [hits.table, ...herds.tables, ...refreshes.tables],
    targets: [...hits.targets, ...herds.targets, ...refreshes.targets],
  }
}

async function measureHits(options: BenchOptions, herd: Member): Promise<{ table: Table; targets: Target[] }> {
  const { name: generator, load } = loadGenerator(herd, options.smoke)
  const wanted = chosen(names, options)
  const contenders = wanted
    .filter(isInstalled)
    .map((name) => ({ name, measure: () => withCleanup((later) => hitRate(name, load, options, later)) }))
  const seen = await interleave(contenders, Math.min(options.rounds, 9))
  return { table: hitTable(wanted, seen, generator), targets: hitTargets(seen) }
}

/** In processes of its own in every round: two of one code may differ, for as long as they live, by more than two contenders do. */
async function hitRate(
  name: string,
  load: Load,
  { smoke }: BenchOptions,
  later: Later,
): Promise<Record<string, number>> {
  const { url, cpu } = await startPlayer(name, later)
  await (await fetch(url)).text()
  if (!smoke) await load(url, SECONDS)
  const seconds = smoke ? 0 : SECONDS
  const before = cpu()
  const rate = await load(url, seconds)
  return { rate, cpu: ((cpu() - before) * 1000) / (rate * seconds) }
}

async function startPlayer(name: string, later: Later): Promise<Player> {
  const proxy = proxies[name]
  const member = await startMember('http/member.js')
  later(() => member.stop())
  const port = await member.ask<number>('open', proxy === undefined ? name : FLOORS.fastify, quick)
  const program = await proxy?.start(port)
  if (program !== undefined) later(() => program.stop())
  const url = `http://127.0.0.1:${program?.port ?? port}/thing/1`
  return { url, cpu: program === undefined ? () => member.cpu() : () => program.cpu() }
}

function floorOf(name: string): string {
  return name.startsWith('Express') ? FLOORS.express : FLOORS.fastify
}

function hitTable(all: readonly string[], seen: Seen, generator: string): Table {
  const rows = all.map((name): Row => {
    const is = name.endsWith('cattlegrid') ? 'ours' : name === floorOf(name) ? 'floor' : 'peer'
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
    ['Express, cattlegrid', FLOORS.express, 1.2],
    ['Fastify, cattlegrid', FLOORS.fastify, 0.9],
    ['Fastify, cattlegrid', NGINX, 0.8],
  ] as const
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
