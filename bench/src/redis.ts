// What a hit in Redis costs: near cache off, 1 KB of JSON, callers that ask for keys of their own.
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@cattlegrid/testkit'
import { peers } from './contenders/peers.ts'
import { floors, ours } from './contenders/redis-hits.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { type Member, startMember } from './run/member.ts'
import { meter, type RedisMeter, total } from './run/redis-meter.ts'
import { startRelay } from './run/relay.ts'
import type { Column, Findings, Row, Table, Target } from './run/result.ts'
import { allRounds, figureOf, interleave, inverse, ratio, type Seen } from './run/rounds.ts'

const FLOOR = 'node-redis GET, no timer'
const DEFAULT_CLIENT = 'node-redis GET, default client'
const OURS = 'getOrSet'
const NO_TIMER = 'getOrSet, client without timer'
const IOREDIS = 'ioredis GET'
const OURS_ON_IOREDIS = 'getOrSet, ioredis'

/** Callers, and between them so many keys. Of as many as `MANY` none comes round again while what is known of it is believed: the commands per hit tell. */
interface Crowd {
  readonly id: string
  readonly callers: number
  readonly keys: number
  readonly of: string
  /** The most that a hit may take, a GET = 1. */
  readonly wanted: number
}

const MANY = 32_768
const LATELY = 'keys seen lately'
const LONG_AGO = 'keys not seen lately'
const CROWDS: readonly Crowd[] = [
  { id: '1', callers: 1, keys: 2, of: LATELY, wanted: 1.15 },
  { id: '64', callers: 64, keys: 128, of: LATELY, wanted: 1.25 },
  { id: '512', callers: 512, keys: 1024, of: LATELY, wanted: 1.25 },
  { id: '1-many', callers: 1, keys: MANY, of: LONG_AGO, wanted: 1.15 },
  { id: '64-many', callers: 64, keys: MANY, of: LONG_AGO, wanted: 1.5 },
  { id: '512-many', callers: 512, keys: MANY, of: LONG_AGO, wanted: 1.6 },
]
const COUNTED = 100
/** After so long nothing is believed any more of what was read, ms: the measure may come by keys that the warming has asked for. */
const FORGOTTEN = 1100
/** So many callers at once make a new process warm: one at a time asks too seldom for the compiler to have seen its code. */
const WARM_AT = 64
/** For so long, ms: until all code of a hit is optimized. */
const WARM_UP = 2000
/** Then a round measures for so long, ms. */
const MEASURED = 400
/** A process that has waited for its turn works for so long before, ms: the processor has forgotten its code, and it may have forgotten the keys. */
const LEAD_IN = 100
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
  const keys = options.smoke ? 2048 : MANY
  const wanted = chosen(names, options)
  await withCleanup(async (over) => {
    for (const { member } of await startPlayers(wanted, server.url, over)) await member.ask('fill', keys)
  })
  const seen = new Map<string, Seen>()
  for (let turn = 0; turn < options.rounds; turn += 1) {
    await withCleanup(async (over) => {
      const players = await startPlayers(wanted, server.url, over)
      for (const { member } of players) await member.ask('measure', WARM_AT, options.smoke ? 20 : WARM_UP)
      const inTurn = [...players.slice(turn % players.length), ...players.slice(0, turn % players.length)]
      for (const crowd of crowdsOf(options)) {
        const found = await oneRound(inTurn, look, { ...crowd, keys: Math.min(crowd.keys, keys) }, options)
        seen.set(crowd.id, allRounds(seenBy(seen, crowd.id), found))
      }
    })
  }
  const counts = await countAll(wanted, look, server)
  return {
    tables: [
      ...crowdsOf(options).map((crowd) => timeTable(crowd, seenBy(seen, crowd.id), wanted)),
      countTable(wanted, counts),
    ],
    targets: targets(seen, crowdsOf(options), counts.get(OURS)),
  }
}

/** New processes, which find what others have filled: two of one code may differ, for as long as they live, by more than two contenders do. */
async function startPlayers(wanted: readonly string[], url: string, later: Later): Promise<readonly Player[]> {
  const players: Player[] = []
  for (const [place, name] of wanted.entries()) {
    const member = await startMember('redis-member.js', [name, url, `bench-${place}`])
    later(() => member.stop())
    players.push({ name, member })
  }
  return players
}

async function oneRound(
  players: readonly Player[],
  look: RedisMeter,
  { callers, keys, of }: Crowd,
  { smoke }: BenchOptions,
): Promise<Seen> {
  const duration = smoke ? 20 : MEASURED
  const keysEach = Math.max(1, Math.floor(keys / callers))
  const contenders = players.map(({ name, member }) => ({
    name,
    measure: async () => {
      await member.ask('measure', callers, smoke ? 0 : LEAD_IN, keysEach)
      return await round(member, look, callers, duration, keysEach)
    },
  }))
  if (of === LONG_AGO) await sleep(FORGOTTEN)
  return await interleave(contenders, 1)
}

async function countAll(
  wanted: readonly string[],
  look: RedisMeter,
  { url, port }: { readonly url: string; readonly port: number },
): Promise<ReadonlyMap<string, Counts>> {
  const counts = new Map<string, Counts>()
  await withCleanup(async (later) => {
    for (const { name, member } of await startPlayers(wanted, url, later))
      counts.set(name, await count(member, look, port))
  })
  return counts
}

async function round(
  member: Member,
  look: RedisMeter,
  callers: number,
  duration: number,
  keysEach: number,
): Promise<Record<string, number>> {
  await look.forget()
  const before = await look.cpu()
  const loads = await member.ask<number>('loads')
  const asked = ['measure', callers, duration, keysEach] as const
  const found = await member.ask<{ hits: number; rate: number; us: number; cpu: number }>(...asked)
  if ((await member.ask<number>('loads')) > loads) throw new Error('what was measured as a hit was a load')
  const server = (((await look.cpu()) - before) * 1000) / found.hits
  return { ...found, server, commands: total(await look.calls()) / found.hits }
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

/** A smoke run has one crowd of each kind. */
function crowdsOf({ smoke }: BenchOptions): readonly Crowd[] {
  return smoke ? CROWDS.filter(({ callers }) => callers === WARM_AT) : CROWDS
}

function seenBy(all: ReadonlyMap<string, Seen>, crowd: string): Seen {
  return all.get(crowd) ?? new Map()
}

function isOf(name: string): Row['is'] {
  return name in ours ? 'ours' : name in floors ? 'floor' : 'peer'
}

function timeTable({ id, callers, of }: Crowd, seen: Seen, wanted: readonly string[]): Table {
  const columns: Column[] = [
    { id: 'rate', title: 'hits/s', digits: 0 },
    { id: 'us', title: 'µs per hit', digits: 1 },
    { id: 'time', title: 'time, GET = 1', digits: 2 },
    { id: 'speed', title: 'speed, default GET = 1', digits: 2 },
    { id: 'cpu', title: 'client CPU, µs', digits: 1 },
    { id: 'byCpu', title: 'the same, GET = 1', digits: 2 },
    { id: 'server', title: 'server CPU, µs', digits: 1 },
    { id: 'commands', title: 'commands', digits: 2 },
  ]
  const rows = wanted.map((name) => ({
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
      commands: figureOf(seen, name, 'commands'),
    },
  }))
  return {
    id: `redis-${id}`,
    title: `Hit in Redis, ${callers} at once, ${of}: 1 KB of JSON, near cache off`,
    columns,
    rows,
  }
}

function countTable(wanted: readonly string[], counts: ReadonlyMap<string, Counts>): Table {
  const columns: Column[] = [
    { id: 'roundTrips', title: 'round trips per hit', digits: 2 },
    { id: 'commands', title: 'commands per hit', digits: 2 },
    { id: 'lua', title: 'scripts per hit', digits: 2 },
    { id: 'together', title: 'reads for 64 callers of a key', digits: 0 },
  ]
  const rows = wanted.map((name) => ({ name, is: isOf(name), cells: { ...counts.get(name) } }))
  return { id: 'redis-counts', title: 'What a hit in Redis sends', columns, rows }
}

function targets(
  seen: ReadonlyMap<string, Seen>,
  crowds: readonly Crowd[],
  counts: Counts | undefined,
): readonly Target[] {
  if (counts === undefined) return []
  const times = crowds.map(({ id, callers, of, wanted }): Target => {
    const what = `Hit in Redis, ${callers} at once, ${of}: time against GET + JSON.parse`
    return { what, op: '<=', wanted, got: ratio(seenBy(seen, id), OURS, FLOOR, 'us'), unit: '×' }
  })
  const timer = ratio(seenBy(seen, '64'), OURS, NO_TIMER, 'cpu')
  const speed = inverse(ratio(seenBy(seen, '64'), OURS, DEFAULT_CLIENT, 'us'))
  const onIoredis = ratio(seenBy(seen, '64'), OURS_ON_IOREDIS, IOREDIS, 'us')
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
    {
      what: 'Hit in Redis, 64 at once, over ioredis: time against its own GET + JSON.parse',
      op: '<=',
      wanted: 1.25,
      got: onIoredis,
      unit: '×',
    },
  ]
}
