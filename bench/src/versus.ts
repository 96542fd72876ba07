// Another checkout against this one, in turn, for a moment each: both in one process, and over HTTP each in one of its own. Whatever slows the machine down meets both
// alike, so a tenth shows where the other benches differ by half.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as core from '@cattlegrid/core'
import type * as redis from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'
import { connected } from './contenders/node-redis.ts'
import { OURS } from './http/origin.ts'
import { becomeStale, STALE_AFTER } from './http/rate.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import type * as member from './run/member.ts'
import type { Findings, Table } from './run/result.ts'
import { figuresOf, interleave, ratio } from './run/rounds.ts'

const CALLERS = [1, 64, 512]
const KEYS_EACH = 2
const TEXT = 'x'.repeat(960)
const HERE = 'this checkout'
const OTHER = 'the other'
/** Of one contender in one round, ms. */
const MOMENT = 150
const WARM_UP = 1500
/** Of one app in one round, ms. */
const HTTP_MOMENT = 1000
const HOUR = 3_600_000

/** Asks ever anew for about so long; resolves to the CPU of one of its requests, µs. */
type Run = (duration: number) => Promise<number>
/** Asks ever anew for so long; resolves to how many times it asked. */
type Ask = (duration: number) => Promise<number>
type Scenario = (name: string, root: string) => Promise<Run>

interface Comparison {
  readonly title: string
  readonly scenario: Scenario
  /** Of one checkout in one round, ms. */
  readonly moment: number
}

const [other] = process.argv.splice(2, 1)
if (other === undefined) throw new Error('npm run bench -- versus <another checkout, built> [--rounds n]')
const roots: Readonly<Record<string, string>> = { [OTHER]: resolve(other), [HERE]: process.cwd() }

await runBench('versus', (options) => withCleanup((later) => compare(options, later)))

async function compare(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const comparisons: readonly Comparison[] = [
    { title: 'Miss in process', scenario: misses, moment: MOMENT },
    ...CALLERS.map((callers) => ({
      title: `Hit in Redis, ${callers} at once`,
      scenario: hits(server.url, callers, later),
      moment: MOMENT,
    })),
    ...OURS.flatMap((app) => [
      { title: `${app}: a hit`, scenario: answers(app, HOUR, later), moment: HTTP_MOMENT },
      { title: `${app}: a stale hit`, scenario: answers(app, STALE_AFTER, later), moment: HTTP_MOMENT },
    ]),
  ]
  const titles = comparisons.map(({ title }) => title)
  const tables = []
  for (const title of chosen(titles, options)) {
    const comparison = comparisons[titles.indexOf(title)]
    if (comparison !== undefined) tables.push(await tableOf(comparison, options))
  }
  return { tables, targets: [] }
}

async function tableOf({ title, scenario, moment }: Comparison, { smoke, rounds }: BenchOptions): Promise<Table> {
  const contenders = []
  for (const [name, root] of Object.entries(roots)) {
    const run = await scenario(name, root)
    await run(smoke ? MOMENT : WARM_UP)
    contenders.push({ name, measure: async () => ({ cpu: await run(smoke ? MOMENT : moment) }) })
  }
  const seen = await interleave(contenders, rounds)
  return {
    id: `versus-${title.toLowerCase().replaceAll(/\W+/g, '-')}`,
    title,
    columns: [
      { id: 'cpu', title: 'CPU, µs', digits: 2 },
      { id: 'ratio', title: `${OTHER} = 1`, digits: 2 },
    ],
    rows: Object.keys(roots).map((name) => ({
      name,
      is: name === HERE ? 'ours' : 'peer',
      cells: { ...figuresOf(seen, name, ['cpu']), ratio: ratio(seen, name, OTHER, 'cpu') },
    })),
  }
}

function inThisProcess(ask: Ask): Run {
  return async (duration) => {
    const before = process.cpuUsage()
    const count = await ask(duration)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / count
  }
}

async function misses(_: string, root: string): Promise<Run> {
  const { createCache } = await coreOf(root)
  const cache = createCache({ ttl: '1h' })
  let asked = 0
  return inThisProcess(async (duration) => {
    const first = asked
    for (const end = performance.now() + duration; performance.now() < end; asked += 1)
      await cache.getOrSet(`product:${asked}`, async () => ({ asked }))
    return asked - first
  })
}

function hits(url: string, callers: number, later: Later): Scenario {
  return async (name, root) => {
    const { createCache } = await coreOf(root)
    const { redisStore } = await redisOf(root)
    const client = await connected(url)
    const store = redisStore({ client, namespace: `versus-${Object.keys(roots).indexOf(name)}-${callers}` })
    const cache = createCache({ ttl: '1h', store, storeTimeout: '20s' })
    later(async () => {
      await cache.close()
      client.destroy()
    })
    const ask = (key: number): Promise<unknown> => cache.getOrSet(`product:${key}`, async () => ({ key, text: TEXT }))
    await Promise.all(Array.from({ length: callers * KEYS_EACH }, (_, key) => ask(key)))
    return inThisProcess(async (duration) => {
      const end = performance.now() + duration
      const counts = await Promise.all(
        Array.from({ length: callers }, (_, caller) => askUntil(end, caller * KEYS_EACH, ask)),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    })
  }
}

/** One answer that lives for `ttl`, for 64 connections; where it is stale by then, its refresh runs meanwhile. */
function answers(app: string, ttl: number, later: Later): Scenario {
  return async (_, root) => {
    const { startMember } = await memberOf(root)
    const server = await startMember('http/member.js')
    later(() => server.stop())
    const traits = { loadTime: 0, fails: false, ttl, stale: HOUR, redis: undefined, namespace: 'versus' }
    const port = await server.ask<number>('open', app, traits)
    await (await fetch(`http://127.0.0.1:${port}/thing/1`)).text()
    await becomeStale(server)
    return async (duration) => (await server.ask<{ cpu: number }>('requests', '/thing/1', duration)).cpu / 1000
  }
}

async function askUntil(end: number, first: number, ask: (key: number) => Promise<unknown>): Promise<number> {
  let asked = 0
  for (; performance.now() < end; asked += 1) await ask(first + (asked % KEYS_EACH))
  return asked
}

async function coreOf(root: string): Promise<Pick<typeof core, 'createCache'>> {
  return (await importOf(root, 'packages/core/dist/esm/index.js')) as typeof core
}

async function redisOf(root: string): Promise<Pick<typeof redis, 'redisStore'>> {
  return (await importOf(root, 'packages/redis/dist/esm/index.js')) as typeof redis
}

async function memberOf(root: string): Promise<Pick<typeof member, 'startMember'>> {
  return (await importOf(root, 'bench/dist/run/member.js')) as typeof member
}

async function importOf(root: string, file: string): Promise<unknown> {
  return await import(pathToFileURL(resolve(root, file)).href)
}
