// What a hit in Redis costs: near cache off, 1 KB of JSON, callers that ask for keys of their own.
import { startRedis } from '@cattlegrid/testkit'
import { peers } from './contenders/peers.ts'
import { floors, ours } from './contenders/redis-hits.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { type Member, startMember } from './run/member.ts'
import { meter, type RedisMeter, total } from './run/redis-meter.ts'
import { startRelay } from './run/relay.ts'
import type { Column, Findings, Row, Table, Target } from './run/result.ts'
import { figureOf, interleave, inverse, ratio, type Seen } from './run/rounds.ts'

const FLOOR = 'node-redis GET, no timer'
const DEFAULT_CLIENT = 'node-redis GET, default client'
const OURS = 'getOrSet'
const NO_TIMER = 'getOrSet, client without timer'
const CALLERS = [1, 64, 512]
const COUNTED = 100
// It keeps everything in the process: nothing of it is in Redis.
const names = [...Object.keys(floors), ...Object.keys(ours), ...Object.keys(peers)].filter(
  (name) => name !== 'lru-cache fetch',
)

interface Player {
  readonly name: string
  readonly member: Member
}

/** What a hit sends, and what 64 callers of one key send together. */
interface Counts {
  readonly roundTrips: number
  readonly commands: number
  readonly lua: number
  readonly together: number
}

await runBench('redis', (options) => withCleanup((later) => measureRedis(options, later)))

async function measureRedis(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const look = await meter(server.url)
  later(() => look.close())
  const players: Player[] = []
  for (const name of chosen(names, options)) {
    const member = await startMember('redis-member.js', [name, server.url])
    later(() => member.stop())
    await member.ask('fill', 2 * Math.max(...CALLERS))
    players.push({ name, member })
  }
  const duration = options.smoke ? 20 : 400
  const seen = new Map<number, Seen>()
  for (const callers of CALLERS) {
    const contenders = players.map(({ name, member }) => ({
      name,
      measure: () => round(member, look, callers, duration),
    }))
    await interleave(contenders, 1)
    seen.set(callers, await interleave(contenders, options.rounds))
  }
  const counts = new Map<string, Counts>()
  for (const { name, member } of players) counts.set(name, await count(member, look, server.port))
  return {
    tables: [
      ...CALLERS.map((callers) => timeTable(callers, seenAt(seen, callers), players)),
      countTable(players, counts),
    ],
    targets: targets(seen, counts.get(OURS)),
  }
}

async function round(
  member: Member,
  look: RedisMeter,
  callers: number,
  duration: number,
): Promise<Record<string, number>> {
  const before = await look.cpu()
  const loads = await member.ask<number>('loads')
  const found = await member.ask<{ hits: number; rate: number; us: number; cpu: number }>('measure', callers, duration)
  if ((await member.ask<number>('loads')) > loads) throw new Error('what was measured as a hit was a load')
  return { ...found, server: (((await look.cpu()) - before) * 1000) / found.hits }
}

async function count(member: Member, look: RedisMeter, port: number): Promise<Counts> {
  await look.forget()
  await member.ask('together', 64)
  const together = reads(await look.calls())
  const relay = await startRelay(port)
  await member.ask('reopen', relay.url)
  await look.forget()
  const before = relay.roundTrips
  await member.ask('inTurn', COUNTED)
  const calls = await look.calls()
  const roundTrips = (relay.roundTrips - before) / COUNTED
  await member.ask('reopen', `redis://127.0.0.1:${port}`)
  await relay.close()
  return { roundTrips, commands: total(calls) / COUNTED, lua: scripts(calls) / COUNTED, together }
}

function reads(calls: ReadonlyMap<string, number>): number {
  return (calls.get('get') ?? 0) + (calls.get('mget') ?? 0) + (calls.get('getrange') ?? 0)
}

function scripts(calls: ReadonlyMap<string, number>): number {
  return (calls.get('eval') ?? 0) + (calls.get('evalsha') ?? 0) + (calls.get('fcall') ?? 0)
}

function seenAt(all: ReadonlyMap<number, Seen>, callers: number): Seen {
  return all.get(callers) ?? new Map()
}

function isOf(name: string): Row['is'] {
  return name in ours ? 'ours' : name in floors ? 'floor' : 'peer'
}

function timeTable(callers: number, seen: Seen, players: readonly Player[]): Table {
  const columns: Column[] = [
    { id: 'rate', title: 'hits/s', digits: 0 },
    { id: 'us', title: 'µs per hit', digits: 1 },
    { id: 'time', title: 'time, GET = 1', digits: 2 },
    { id: 'speed', title: 'speed, default GET = 1', digits: 2 },
    { id: 'cpu', title: 'client CPU, µs', digits: 1 },
    { id: 'byCpu', title: 'the same, GET = 1', digits: 2 },
    { id: 'server', title: 'server CPU, µs', digits: 1 },
  ]
  const rows = players.map(({ name }) => ({
    name,
    is: isOf(name),
    cells: {
      rate: figureOf(seen, name, 'rate'),
      us: figureOf(seen, name, 'us'),
      time: ratio(seen, name, FLOOR, 'us'),
      speed: inverse(ratio(seen, name, DEFAULT_CLIENT, 'us')),
      cpu: figureOf(seen, name, 'cpu'),
      byCpu: ratio(seen, name, FLOOR, 'cpu'),
      server: figureOf(seen, name, 'server'),
    },
  }))
  return {
    id: `redis-${callers}`,
    title: `Hit in Redis, ${callers} at once: 1 KB of JSON, near cache off`,
    columns,
    rows,
  }
}

function countTable(players: readonly Player[], counts: ReadonlyMap<string, Counts>): Table {
  const columns: Column[] = [
    { id: 'roundTrips', title: 'round trips per hit', digits: 2 },
    { id: 'commands', title: 'commands per hit', digits: 2 },
    { id: 'lua', title: 'scripts per hit', digits: 2 },
    { id: 'together', title: 'reads for 64 callers of a key', digits: 0 },
  ]
  const rows = players.map(({ name }) => ({ name, is: isOf(name), cells: { ...counts.get(name) } }))
  return { id: 'redis-counts', title: 'What a hit in Redis sends', columns, rows }
}

function targets(seen: ReadonlyMap<number, Seen>, counts: Counts | undefined): readonly Target[] {
  if (counts === undefined) return []
  const times = [1.15, 1.5, 1.6].flatMap((wanted, index): Target[] => {
    const callers = CALLERS[index] ?? 0
    const got = ratio(seenAt(seen, callers), OURS, FLOOR, 'us')
    return [
      { what: `Hit in Redis, ${callers} at once: time against GET + JSON.parse`, op: '<=', wanted, got, unit: '×' },
    ]
  })
  const timer = ratio(seenAt(seen, 64), OURS, NO_TIMER, 'cpu')
  const speed = inverse(ratio(seenAt(seen, 64), OURS, DEFAULT_CLIENT, 'us'))
  return [
    { what: 'Hit in Redis: round trips', op: '=', wanted: 1, got: counts.roundTrips, unit: '' },
    { what: 'Hit in Redis: scripts', op: '=', wanted: 0, got: counts.lua, unit: '' },
    { what: 'Hit in Redis: reads for 64 callers of one key', op: '=', wanted: 1, got: counts.together, unit: '' },
    ...times,
    {
      what: "Hit in Redis, 64 at once: client CPU on a default client against one without node-redis's timer",
      op: '<=',
      wanted: 1.1,
      got: timer,
      unit: '×',
    },
    {
      what: 'Hit in Redis, 64 at once: speed against GET on a default client',
      op: '>=',
      wanted: 1.6,
      got: speed,
      unit: '×',
    },
  ]
}
