// A cold fleet before a fragile source: what its clients get after a flush, and at the end of the next ttl.
import { startRedis } from '@cattlegrid/testkit'
import { changedTable } from './overload/changed.ts'
import { flushTable } from './overload/flush.ts'
import { healthyTable, loneTable } from './overload/healthy.ts'
import { type OverloadOptions, overloadOptions, OWN_OPTIONS, type Part, PARTS } from './overload/options.ts'
import type { Stage } from './overload/play.ts'
import { changedScenes } from './overload/scenes.ts'
import { runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { meter } from './run/redis-meter.ts'
import type { Findings } from './run/result.ts'

/** The scenes of a particular source that a smoke run plays: one of each kind. */
const IN_SMOKE = ['two-sources', 'doubled']

await runBench(
  'overload',
  (options) => withCleanup((later) => measureOverload(overloadOptions(options), later)),
  OWN_OPTIONS,
)

async function measureOverload(options: OverloadOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const look = await meter(server.url)
  later(() => look.close())
  const stage: Stage = { redis: server.url, look, members: options.length.members }
  // The sources of other kinds are of one size: the middle one.
  const middle = options.atOnce[Math.floor(options.atOnce.length / 2)] ?? 1
  const scenes = changedScenes(middle, options.length).filter(({ id }) => !options.smoke || IN_SMOKE.includes(id))
  const parts: Readonly<Record<Part, readonly (() => Promise<Findings>)[]>> = {
    flush: options.atOnce.map((atOnce) => () => flushTable(atOnce, stage, options)),
    changed: scenes.map((scene) => () => changedTable(scene, stage, options)),
    healthy: options.atOnce.map((atOnce) => () => healthyTable(atOnce, stage, options)),
    lone: [() => loneTable(stage, options)],
  }
  const found: Findings[] = []
  for (const [part, measures] of Object.entries(parts)) {
    if (options.parts.includes(part)) for (const measure of measures) found.push(await measure())
  }
  return {
    isPart: options.parts.length < PARTS.length,
    tables: found.flatMap(({ tables }) => tables),
    targets: found.flatMap(({ targets }) => targets),
    series: found.flatMap(({ series = [] }) => series),
  }
}
