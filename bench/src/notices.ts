// The notices that a fleet hears on a cluster: on one channel for all, and on a channel for each group of slots.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisServer } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import type { Scene } from './notices-member.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { type Member, startMember } from './run/member.ts'
import { startMasters } from './run/masters.ts'
import { meter, type RedisMeter } from './run/redis-meter.ts'
import type { Column, Findings } from './run/result.ts'
import { figuresOf, interleave } from './run/rounds.ts'

interface Size {
  /** The fleet: so many programs, with so many stores in each. Each store stands for a process. */
  readonly programs: number
  readonly stores: number
  readonly population: number
  /** Invalidations a second, as long as the machine keeps up, and for how long, ms. */
  readonly rate: number
  readonly duration: number
}

const FULL: Size = { programs: 4, stores: 25, population: 100_000, rate: 5000, duration: 2000 }
const SMOKE: Size = { programs: 1, stores: 2, population: 1000, rate: 200, duration: 500 }
const MOST_ROUNDS = 3
const KEYS = [100, 1000, 10_000]

const COLUMNS: readonly Column[] = [
  { id: 'heard', title: 'messages that a process hears', digits: 0 },
  { id: 'bus', title: 'messages on the cluster bus', digits: 0 },
  { id: 'server', title: 'CPU of the three masters, ms', digits: 0 },
  { id: 'fleet', title: 'CPU of a process for its notices, ms', digits: 2 },
  { id: 'memory', title: 'memory of the masters for the subscriptions, MB', digits: 1 },
]
/** No message has arrived for so long, ms: all have. */
const QUIET = 1500
const MOST_WAITS = 200

let scenes = 0

await runBench('notices', (options) => withCleanup((later) => measureNotices(options, later)))

interface Bench {
  readonly size: Size
  readonly servers: readonly Watched[]
  readonly fleet: readonly Member[]
  readonly sender: Member
}

async function measureNotices(options: BenchOptions, later: Later): Promise<Findings> {
  const size = options.smoke ? SMOKE : FULL
  const masters = await startMasters(later)
  const urls = masters.map(({ url }) => url)
  const servers = await Promise.all(masters.map((master) => watch(master, later)))
  const members = await Promise.all(
    Array.from({ length: size.programs + 1 }, () => startMember('notices-member.js', urls)),
  )
  for (const member of members) later(() => member.stop())
  const [sender, ...fleet] = members
  if (sender === undefined) throw new Error('No member has started')
  const bench: Bench = { size, servers, fleet, sender }
  const sharded = KEYS.map((keys) => ({
    name: `a channel a group; a process uses ${keys.toLocaleString('en')} keys`,
    measure: () => measure(bench, true, Math.min(keys, size.population)),
  }))
  const contenders = [{ name: 'one channel', measure: () => measure(bench, false, 1) }, ...sharded]
  const names = chosen(
    contenders.map(({ name }) => name),
    options,
  )
  const taking = contenders.filter(({ name }) => names.includes(name))
  const seen = await interleave(taking, Math.min(options.rounds, MOST_ROUNDS))
  const columns = COLUMNS.map(({ id }) => id)
  const processes = size.programs * size.stores
  return {
    tables: [
      {
        id: 'notices',
        title: `For ${size.rate.toLocaleString('en')} invalidations of ${size.population.toLocaleString('en')} keys at random, on a cluster of three masters; ${processes} processes, each as a store with connections of its own for notices, in ${size.programs} programs`,
        columns: COLUMNS,
        rows: taking.map(({ name }) => ({ name, is: 'ours', cells: figuresOf(seen, name, columns) })),
      },
    ],
    targets: [],
  }
}

/** What `rate` invalidations cost, which are those of a second: a machine that is too slow for so many takes longer. */
async function measure({ size, servers, fleet, sender }: Bench, sharded: boolean, keys: number): Promise<Seen> {
  const { stores, population, rate, duration, programs } = size
  scenes += 1
  const scene: Scene = { namespace: `notices-${scenes}`, sharded, stores, population, keys }
  const free = await sum(servers, (server) => server.memory())
  await sender.ask('open', { ...scene, stores: 1, keys: 0 })
  await Promise.all(fleet.map((member) => member.ask('open', scene)))
  const used = (await sum(servers, (server) => server.memory())) - free
  const before = await readings(servers, fleet)
  const sent = await sender.ask<number>('invalidate', rate, duration)
  await untilQuiet(fleet)
  const after = await readings(servers, fleet)
  await Promise.all([sender, ...fleet].map((member) => member.ask('close')))
  const cost = (what: keyof Readings): number => ((after[what] - before[what]) * rate) / sent
  const processes = stores * programs
  return {
    heard: cost('heard') / processes,
    bus: cost('bus'),
    server: cost('server'),
    fleet: cost('fleet') / processes,
    memory: used / 1024 ** 2,
  }
}

type Seen = Record<string, number>

/** Waits until all messages have arrived. */
async function untilQuiet(fleet: readonly Member[]): Promise<void> {
  let last = -1
  for (let waits = 0; waits < MOST_WAITS; waits += 1) {
    const heard = await messagesOf(fleet)
    if (heard === last) return
    last = heard
    await sleep(QUIET)
  }
  throw new Error('Messages still arrive')
}

async function messagesOf(fleet: readonly Member[]): Promise<number> {
  const counts = await Promise.all(fleet.map((member) => member.ask<number>('messages')))
  return counts.reduce((total, count) => total + count, 0)
}

interface Readings {
  readonly heard: number
  readonly bus: number
  readonly server: number
  readonly fleet: number
}

async function readings(servers: readonly Watched[], fleet: readonly Member[]): Promise<Readings> {
  return {
    heard: await messagesOf(fleet),
    bus: await sum(servers, (server) => server.bus()),
    server: await sum(servers, (server) => server.cpu()),
    fleet: fleet.reduce((total, member) => total + member.cpu(), 0),
  }
}

async function sum(servers: readonly Watched[], read: (server: Watched) => Promise<number>): Promise<number> {
  const values = await Promise.all(servers.map(read))
  return values.reduce((total, value) => total + value, 0)
}

interface Watched extends RedisMeter {
  /** The messages that it has sent to other nodes for publications. */
  bus(): Promise<number>
  /** Bytes. */
  memory(): Promise<number>
}

async function watch({ url }: RedisServer, later: Later): Promise<Watched> {
  const meters = await meter(url)
  const client = createClient({ url })
  client.on('error', () => undefined)
  await client.connect()
  later(() => client.destroy())
  later(() => meters.close())
  const read = async (text: Promise<string>, name: RegExp): Promise<number> => {
    let total = 0
    for (const [, digits] of (await text).matchAll(name)) total += Number(digits)
    return total
  }
  return {
    ...meters,
    bus: () =>
      read(client.sendCommand<string>(['CLUSTER', 'INFO']), /cluster_stats_messages_publish(?:shard)?_sent:(\d+)/g),
    memory: () => read(client.info('memory'), /^used_memory:(\d+)/gm),
  }
}
