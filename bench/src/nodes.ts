// What a hit and a refresh over HTTP cost on each version of Node. Up to Node 22, V8 gives each request and response of Express hidden classes of its own.
import { appStarter, type StartApp } from './http/app-members.ts'
import { GOALS, type OriginTraits, OURS } from './http/origin.ts'
import { requestRate } from './http/rate.ts'
import { refreshRate } from './http/refreshes.ts'
import { loadGenerator } from './http/wrk.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import type { Findings, Row, Target } from './run/result.ts'
import { figureOf, figuresOf, interleave, ratio, type Seen } from './run/rounds.ts'

const [RUNNING = ''] = process.versions.node.split('.')
const MAJORS = [...new Set([RUNNING, '20', '22', '24'])].toSorted()
const BY_HAND = ['Express, refreshed by hand', 'Fastify, refreshed by hand']
const TRAITS: OriginTraits = {
  loadTime: 0,
  fails: false,
  ttl: 3_600_000,
  stale: 0,
  redis: undefined,
  namespace: 'nodes',
}

/** An app on one version of Node. */
interface Place {
  readonly name: string
  readonly app: string
  readonly major: string
}

await runBench('nodes', (options) => withCleanup((later) => measureNodes(options, later)))

async function measureNodes(options: BenchOptions, later: Later): Promise<Findings> {
  const { smoke, rounds } = options
  const herd = await startMember('http/herd-member.js')
  later(() => herd.stop())
  const { load } = loadGenerator(herd, smoke)
  const starters = new Map<string, StartApp>()
  for (const major of smoke ? [RUNNING] : MAJORS) starters.set(major, appStarter(smoke, later, await nodeOf(major)))
  const places = (apps: readonly string[]): readonly Place[] =>
    chosen(apps, options).flatMap((app) => [...starters.keys()].map((major) => placeOf(app, major)))
  const onNode = ({ major }: Place): StartApp => starters.get(major) as StartApp
  const hit = places([...OURS.map(bareOf), ...OURS])
  const hits = await interleave(
    hit.map((one) => ({
      name: one.name,
      measure: () => requestRate(one.app, { traits: TRAITS, load, start: onNode(one) }, smoke),
    })),
    Math.min(rounds, 5),
  )
  const refreshed = places([...OURS, ...BY_HAND])
  const refreshes = await interleave(
    refreshed.map((one) => ({
      name: one.name,
      measure: () => refreshRate(one.app, onNode(one), smoke),
    })),
    Math.min(rounds, 3),
  )
  return {
    tables: [
      {
        id: 'nodes-hit',
        title: 'Hit over HTTP on versions of Node: 10 KB of JSON, 64 connections, one server process',
        columns: [
          { id: 'rate', title: 'requests/s', digits: 0 },
          { id: 'ratio', title: 'string handler on this Node = 1', digits: 2 },
          { id: 'cpu', title: 'server CPU, µs', digits: 1 },
        ],
        rows: hit.map((one) => ({
          ...rowOf(one),
          cells: { ...figuresOf(hits, one.name, ['rate', 'cpu']), ratio: overBare(one, hits) ?? '' },
        })),
      },
      {
        id: 'nodes-refresh',
        title:
          'Stale answers on versions of Node, each refreshed behind its client: 10 KB, 64 connections, one process',
        columns: [
          { id: 'cpu', title: 'server CPU for answer and refresh, µs', digits: 0 },
          { id: 'busy', title: 'refreshes/s of server CPU', digits: 0 },
        ],
        rows: refreshed.map((one) => ({ ...rowOf(one), cells: figuresOf(refreshes, one.name, ['cpu', 'busy']) })),
      },
    ],
    targets: [...hitTargets(hit, hits), ...refreshTargets(refreshed, refreshes)],
  }
}

function placeOf(app: string, major: string): Place {
  return { name: `${app}, Node ${major}`, app, major }
}

/** The same app without a cache; it may be one itself. */
function bareOf(app: string): string {
  return GOALS[app]?.bare ?? app
}

/** The running one for its own major version; another comes from npm. */
async function nodeOf(major: string): Promise<string> {
  if (major === RUNNING) return process.execPath
  const scripts = new URL('../../scripts/from-npm.mjs', import.meta.url)
  const npm = (await import(scripts.href)) as { nodeBinary(version: string): string }
  return npm.nodeBinary(major)
}

function rowOf({ name, app }: Place): Pick<Row, 'name' | 'is'> {
  return { name, is: OURS.includes(app) ? 'ours' : 'floor' }
}

function overBare({ name, app, major }: Place, seen: Seen): ReturnType<typeof ratio> | undefined {
  const bare = placeOf(bareOf(app), major).name
  return seen.has(bare) ? ratio(seen, name, bare, 'rate') : undefined
}

function hitTargets(places: readonly Place[], seen: Seen): readonly Target[] {
  return places.flatMap((one): Target[] => {
    const goal = GOALS[one.app]
    const got = overBare(one, seen)
    if (goal === undefined || got === undefined) return []
    const what = `Hit over HTTP, by version of Node: ${one.name}, against the bare app`
    return [{ what, op: '>=', wanted: goal.hit, got, unit: '×' }]
  })
}

function refreshTargets(places: readonly Place[], seen: Seen): readonly Target[] {
  return places.flatMap(({ name, app }): Target[] => {
    const wanted = GOALS[app]?.refreshes
    if (wanted === undefined) return []
    const what = `Background refreshes, by version of Node: ${name}`
    return [{ what, op: '>=', wanted, got: figureOf(seen, name, 'busy'), unit: 'per second of server CPU' }]
  })
}
