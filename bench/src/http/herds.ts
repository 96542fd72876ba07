// 500 connections at once, in front of a handler that takes its time.
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchOptions, chosen } from '../run/bench.ts'
import { type Later, withCleanup } from '../run/cleanup.ts'
import type { Member } from '../run/member.ts'
import type { Findings, Row, Table, Target } from '../run/result.ts'
import { figureOf, figuresOf, interleave, type Seen } from '../run/rounds.ts'
import type { StartApp } from './app-members.ts'
import { expressHerdFloors } from './express-apps.ts'
import { fastifyHerdFloors } from './fastify-apps.ts'
import { type OriginTraits, OURS } from './origin.ts'
import { isInstalled, proxies } from './proxies.ts'

/** The same app without a cache: what so many answers at once cost by themselves. Where something stale is there to be served, its handler takes no time. */
const BARE = ['Express, sends a string', 'Fastify, sends a string']
/**
 * The least that makes one run of the handler out of 500: no key, no rules, no lease that ends, and nothing of the response but its body, which
 * Express sends without an entity-tag. Nothing of it becomes stale, so it says nothing of that herd.
 */
const ONE_RUN = [...Object.keys(expressHerdFloors), ...Object.keys(fastifyHerdFloors)]
const FLOORS = [...BARE, ...ONE_RUN]
const NODE_PEERS = ['Express, apicache', 'Express, route-cache', 'Fastify, @fastify/caching']
/** The same as ours, but nobody has asked these processes anything before the herd does. */
const STARTED = ', just started'
const names = [...OURS, ...OURS.map((name) => name + STARTED), ...FLOORS, ...NODE_PEERS, ...Object.keys(proxies)]
/** How many herds come before the one that is measured: what it meets is a service at work, of which the compiler has seen the code. */
const WARM_UPS = 24
/** How long the handler takes as long as they last, ms. */
const QUICK = 10
const LOAD_TIME = 300
const CLIENTS = 500
const MOST_ROUNDS = 3
const FEW = 50
const SMOKE = [...OURS, ...ONE_RUN]

interface Herd {
  readonly id: string
  readonly title: string
  readonly ttl: number
  readonly stale: number
  readonly fails: boolean
  readonly most: number
}

const herds: readonly Herd[] = [
  { id: 'cold', title: 'cold', ttl: 3_600_000, stale: 0, fails: false, most: 340 },
  { id: 'stale', title: 'expired, stale allowed', ttl: 1000, stale: 60_000, fails: false, most: 30 },
  { id: 'failing', title: 'the handler answers 500', ttl: 3_600_000, stale: 0, fails: true, most: 340 },
]

/** Who takes part beside the apps. */
interface Players {
  readonly herd: Member
  readonly start: StartApp
  /** Its URL. */
  readonly redis: string
}

export async function herdTables(options: BenchOptions, players: Players): Promise<Findings> {
  const tables: Table[] = []
  const targets: Target[] = []
  // A smoke run has the first two: the third is the cold one with another answer.
  for (const kind of options.smoke ? herds.slice(0, 2) : herds) {
    const all = names.filter((name) => kind.stale === 0 || !ONE_RUN.includes(name))
    const taking = chosen(options.smoke ? all.filter((name) => SMOKE.includes(name)) : all, options).filter(isInstalled)
    const contenders = taking.map((name) => ({ name, measure: () => run(name, kind, players, options.smoke) }))
    const seen = await interleave(contenders, Math.min(options.rounds, MOST_ROUNDS))
    tables.push(table(kind, chosen(all, options), seen))
    targets.push(...OURS.filter((name) => seen.has(name)).flatMap((name) => aims(name, kind, seen)))
  }
  return { tables, targets }
}

/** Ours as two processes with a Redis between them, and half of the clients at each, and so the floors; the others alone. */
async function run(
  called: string,
  kind: Herd,
  { herd, start, redis }: Players,
  smoke: boolean,
): Promise<Record<string, number>> {
  return await withCleanup(async (later) => {
    const { ttl, stale, fails } = kind
    const name = called.replace(STARTED, '')
    const namespace = `herd-${kind.id}-${Math.random().toString(36).slice(2)}`
    const loadTime = BARE.includes(name) && stale > 0 ? 0 : LOAD_TIME
    const traits = { loadTime: QUICK, ttl, stale, fails, redis, namespace }
    const places = isPair(name) ? [0, 1] : [0]
    const members = await Promise.all(places.map((place) => start(later, place)))
    const ports = await Promise.all(members.map((member) => open(name, member, traits, later)))
    const clients = smoke ? FEW : CLIENTS
    for (let left = warmUps(called, smoke); left > 0; left -= 1)
      await herd.ask('herd', ports, `/thing/warm-up-${left}`, clients)
    for (const member of members) await member.ask('takes', loadTime)
    if (stale > 0) {
      await herd.ask('herd', ports.slice(0, 1), '/thing/1', 1)
      await sleep(ttl + 100)
    }
    const before = await runs(members)
    const got = await herd.ask<Record<string, number>>('herd', ports, '/thing/1', clients)
    // The refresh behind the clients' backs counts.
    await sleep(stale > 0 ? LOAD_TIME + 100 : 0)
    return { ...got, runs: (await runs(members)) - before }
  })
}

/** A proxy in C comes compiled. */
function warmUps(called: string, smoke: boolean): number {
  if (called.endsWith(STARTED)) return 0
  return smoke || called in proxies ? 1 : WARM_UPS
}

/** The port to ask at: the proxy's where there is one, in front of a plain Fastify. */
async function open(name: string, member: Member, traits: OriginTraits, later: Later): Promise<number> {
  const proxy = proxies[name]
  if (proxy === undefined) return await member.ask('open', name, traits)
  const program = await proxy.start(await member.ask('open', 'Fastify, sends a string', traits))
  later(() => program.stop())
  return program.port
}

async function runs(members: readonly Member[]): Promise<number> {
  const counted = await Promise.all(members.map((member) => member.ask<number>('runs')))
  return counted.reduce((sum, count) => sum + count, 0)
}

function isPair(called: string): boolean {
  return [...OURS, ...FLOORS].includes(called.replace(STARTED, ''))
}

function table({ id, title }: Herd, all: readonly string[], seen: Seen): Table {
  const columns = [
    { id: 'runs', title: 'handler runs', digits: 0 },
    { id: 'p50', title: 'p50, ms', digits: 0 },
    { id: 'p99', title: 'p99, ms', digits: 0 },
    { id: 'ok', title: '200', digits: 0 },
    { id: 'errors', title: 'errors', digits: 0 },
    { id: 'timedOut', title: 'no answer in 10 s', digits: 0 },
  ]
  const rows = all.map((name): Row => {
    const measured = columns.map(({ id: column }) => column)
    const cells = seen.has(name) ? figuresOf(seen, name, measured) : { runs: 'not installed here' }
    return {
      name: isPair(name) ? `${name}, 2 processes` : name,
      is: FLOORS.includes(name) ? 'floor' : isPair(name) ? 'ours' : 'peer',
      cells,
    }
  })
  return { id: `http-${id}`, title: `500 connections at once, 300 ms handler: ${title}`, columns, rows }
}

function aims(name: string, { title, most, id }: Herd, seen: Seen): readonly Target[] {
  const what = `500 connections at once, ${title}: ${name}`
  return [
    { what, op: '=', wanted: 1, got: figureOf(seen, name, 'runs'), unit: 'runs' },
    { what, op: '<=', wanted: most, got: figureOf(seen, name, 'p99'), unit: 'ms p99' },
    ...(id === 'failing'
      ? [{ what, op: '=', wanted: 0, got: figureOf(seen, name, 'timedOut'), unit: 'without an answer' } as const]
      : []),
  ]
}
