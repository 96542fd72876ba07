// Where the time of each hot path goes: self time by function.
import { startRedis } from '@cattlegrid/testkit'
import { type BenchOptions, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { type Member, startMember } from './run/member.ts'
import type { SelfTime } from './run/profile.ts'
import type { Findings, Table } from './run/result.ts'

/** One of each kind. */
const SMOKED = ['hit', 'redis-64', 'fastify', 'refresh']
const SHOWN = 15
const OURS = '@cattlegrid/'
const WARM_UP = 1000
const DURATION = 2000
const HTTP = { loadTime: 0, fails: false, ttl: 3_600_000, stale: 0, redis: undefined, namespace: 'profile' }

/** Every request finds another stale entry. */
const STALE = { ...HTTP, ttl: 100, stale: 3_600_000 }

/** A path, who walks it, and what one step of it cost outside the profiler. */
interface HotPath {
  readonly id: string
  readonly title: string
  /** What one step is called. Default: a hit. */
  readonly step?: string
  /** Whose the time is, instead of which function's. */
  readonly byOwner?: boolean
  readonly member: () => Promise<Member>
  readonly ask: readonly [string, ...unknown[]]
  /** The CPU of one hit in ns, out of what `ask` answers. */
  readonly cost: (answer: { readonly cpu: number }) => number
}

await runBench('profile', (options) => withCleanup((later) => profilePaths(options, later)))

async function profilePaths(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const tables: Table[] = []
  for (const path of paths(server.url)) {
    if (options.only !== undefined && !options.only.includes(path.id)) continue
    if (options.smoke && !SMOKED.includes(path.id)) continue
    const member = await path.member()
    try {
      tables.push(await walk(path, member, options.smoke))
    } finally {
      await member.stop()
    }
  }
  return { tables, targets: [] }
}

function paths(redis: string): readonly HotPath[] {
  const inProcess = (id: string, name: string): HotPath => ({
    id,
    title: `Hit in process: ${name}`,
    member: async () => {
      const member = await startMember('hit-member.js', [name, redis], ['--expose-gc'])
      await member.ask('warmUp', 300)
      return member
    },
    ask: ['measure'],
    cost: ({ cpu }) => cpu,
  })
  const inRedis = (callers: number, name: string, id = `redis-${callers}`): HotPath => ({
    id,
    title: `Hit in Redis, ${callers} at once: ${name}`,
    member: async () => {
      const member = await startMember('redis-member.js', [name, redis])
      await member.ask('fill', 2 * callers)
      return member
    },
    ask: ['measure', callers],
    cost: ({ cpu }) => cpu * 1000,
  })
  const overHttp = (id: string, name: string): HotPath => ({
    id,
    title: `Hit over HTTP: ${name}`,
    member: async () => {
      const member = await startMember('http/member.js')
      await member.ask('open', name, HTTP)
      return member
    },
    ask: ['requests', '/thing/1'],
    cost: ({ cpu }) => cpu,
  })
  const refreshed = (id: string, name: string): HotPath => ({
    id,
    title: `Stale answer over HTTP, refreshed behind its client: ${name}`,
    step: 'an answer with its refresh',
    byOwner: true,
    member: async () => {
      const member = await startMember('http/member.js')
      await member.ask('open', name, STALE)
      await member.ask('refreshes', '/thing/', 3000)
      await member.ask('refreshes', '/thing/', 3000)
      return member
    },
    ask: ['refreshes', '/thing/'],
    cost: ({ cpu }) => cpu,
  })
  return [
    inProcess('hit', 'getOrSet'),
    inProcess('hit-features', 'getOrSet, every feature'),
    inProcess('hit-options', 'getOrSet, new options every call'),
    inProcess('wrap', 'wrap'),
    inProcess('near', 'near cache'),
    inRedis(1, 'getOrSet'),
    inRedis(64, 'getOrSet'),
    inRedis(1, 'node-redis GET, no timer', 'floor-1'),
    inRedis(64, 'node-redis GET, no timer', 'floor-64'),
    overHttp('express', 'Express, cattlegrid'),
    overHttp('express-floor', 'Express, sends a string'),
    overHttp('fastify', 'Fastify, cattlegrid'),
    overHttp('fastify-floor', 'Fastify, sends a string'),
    refreshed('refresh', 'Fastify, cattlegrid'),
    refreshed('refresh-floor', 'Fastify, injects a request behind each answer'),
  ]
}

async function walk(path: HotPath, member: Member, smoke: boolean): Promise<Table> {
  await member.ask(...path.ask, smoke ? 10 : WARM_UP)
  const cost = path.cost(await member.ask(...path.ask, smoke ? 10 : DURATION))
  const times = await member.ask<readonly SelfTime[]>('profile', ...path.ask, smoke ? 10 : DURATION)
  return {
    id: `profile-${path.id}`,
    title: `${path.title}: ${Math.round(cost)} ns of CPU ${path.step ?? 'a hit'}`,
    columns: [
      { id: 'share', title: 'share, %', digits: 1 },
      { id: 'ns', title: 'ns', digits: 0 },
      { id: 'where', title: 'where', digits: 0 },
    ],
    rows: (path.byOwner === true ? byOwner(times) : times).slice(0, SHOWN).map(({ name, where, share }) => ({
      name,
      is: isOurs(where) || name.startsWith(OURS) ? 'ours' : 'peer',
      cells: { share: share * 100, ns: share * cost, where },
    })),
  }
}

function isOurs(where: string): boolean {
  return where.includes(':') && !where.startsWith('node:')
}

/** The same times, added up for everybody whose code it is. */
function byOwner(times: readonly SelfTime[]): readonly SelfTime[] {
  const owners = new Map<string, SelfTime>()
  for (const { name, where, share } of times) {
    const owner = ownerOf(name, where)
    owners.set(owner, { name: owner, where: '', share: (owners.get(owner)?.share ?? 0) + share })
  }
  return [...owners.values()].toSorted((one, other) => other.share - one.share)
}

function ownerOf(name: string, where: string): string {
  if (where === 'engine') return name === '(garbage collector)' ? name : '(engine and system calls)'
  if (where.startsWith('node:')) return 'Node'
  const [first = '', second = ''] = where.split('/')
  if (isOurs(where)) return OURS + first
  return first.startsWith('@') ? `${first}/${second}` : first
}
