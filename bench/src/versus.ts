// Another checkout against this one: both in one process, in turn, for a moment each. Whatever slows the machine down meets both alike, so a tenth shows where the
// other benches differ by half.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as core from '@cattlegrid/core'
import type * as redis from '@cattlegrid/redis'
import { startRedis } from '@cattlegrid/testkit'
import { connected } from './contenders/node-redis.ts'
import { type BenchOptions, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
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

/** Asks for so many keys at once, ever anew, for so long; resolves to how many it asked for. */
type Run = (duration: number) => Promise<number>
type Scenario = (name: string, root: string) => Promise<Run>

const [other] = process.argv.splice(2, 1)
if (other === undefined) throw new Error('bench:versus -- <another checkout, built> [--rounds n]')
const roots: Readonly<Record<string, string>> = { [OTHER]: resolve(other), [HERE]: process.cwd() }

await runBench('versus', (options) => withCleanup((later) => compare(options, later)))

async function compare(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const tables = [await tableOf('miss', 'Miss in process', misses, options)]
  for (const callers of CALLERS)
    tables.push(
      await tableOf(`redis-${callers}`, `Hit in Redis, ${callers} at once`, hits(server.url, callers, later), options),
    )
  return { tables, targets: [] }
}

async function tableOf(id: string, title: string, scenario: Scenario, { smoke, rounds }: BenchOptions): Promise<Table> {
  const contenders = []
  for (const [name, root] of Object.entries(roots)) {
    const run = await scenario(name, root)
    await run(smoke ? MOMENT : WARM_UP)
    contenders.push({ name, measure: () => cpuOf(run) })
  }
  const seen = await interleave(contenders, rounds)
  return {
    id: `versus-${id}`,
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

async function cpuOf(run: Run): Promise<{ readonly cpu: number }> {
  const before = process.cpuUsage()
  const count = await run(MOMENT)
  const { user, system } = process.cpuUsage(before)
  return { cpu: (user + system) / count }
}

async function misses(_: string, root: string): Promise<Run> {
  const { createCache } = await coreOf(root)
  const cache = createCache({ ttl: '1h' })
  let asked = 0
  return async (duration) => {
    const first = asked
    for (const end = performance.now() + duration; performance.now() < end; asked += 1)
      await cache.getOrSet(`product:${asked}`, async () => ({ asked }))
    return asked - first
  }
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
    return async (duration) => {
      const end = performance.now() + duration
      const counts = await Promise.all(
        Array.from({ length: callers }, (_, caller) => askUntil(end, caller * KEYS_EACH, ask)),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    }
  }
}

async function askUntil(end: number, first: number, ask: (key: number) => Promise<unknown>): Promise<number> {
  let asked = 0
  for (; performance.now() < end; asked += 1) await ask(first + (asked % KEYS_EACH))
  return asked
}

async function coreOf(root: string): Promise<Pick<typeof core, 'createCache'>> {
  return (await importOf(root, 'core')) as typeof core
}

async function redisOf(root: string): Promise<Pick<typeof redis, 'redisStore'>> {
  return (await importOf(root, 'redis')) as typeof redis
}

async function importOf(root: string, name: string): Promise<unknown> {
  return await import(pathToFileURL(resolve(root, 'packages', name, 'dist/esm/index.js')).href)
}
