// What a herd does: loads, waiting and commands, in one process and in many.
import { startRedis } from '@cattlegrid/testkit'
import { peers } from './contenders/peers.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { meter } from './run/redis-meter.ts'
import type { Findings, Table, Target } from './run/result.ts'
import { figuresOf, interleave, type Seen } from './run/rounds.ts'
import { Fleet } from './stampede/fleet.ts'
import { fillTable } from './stampede/fill.ts'
import { floors } from './stampede/floors.ts'
import { leaseTable } from './stampede/lease.ts'
import { COLUMNS, type Scenario, scenarios } from './stampede/scenarios.ts'
import { burstTargets } from './stampede/targets.ts'

const OURS = ['cattlegrid']
const SHARED_ONLY = ['naive lock', 'naive lock, one flight']

await runBench('stampede', (options) => withCleanup((later) => measureStampedes(options, later)))

async function measureStampedes(options: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const look = await meter(server.url)
  later(() => look.close())
  const fleet = new Fleet(server.url, look, options.smoke ? 2 : 8)
  later(() => fleet.stop())
  const tables: Table[] = []
  const targets: Target[] = []
  for (const scenario of scenarios) {
    const names = chosen(namesOf(scenario, options), options)
    const seen = await play(scenario, names, fleet, options)
    tables.push(table(scenario, names, seen))
    targets.push(...burstTargets(scenario.id, seen))
  }
  await fleet.close()
  for (const part of [leaseTable, fillTable]) {
    const found = await part(server.url, fleet, look, options)
    tables.push(...found.tables)
    targets.push(...found.targets)
  }
  return { tables, targets }
}

function namesOf(
  { ours = OURS, local = false, floors: ofIt = [] }: Scenario,
  { smoke }: BenchOptions,
): readonly string[] {
  if (smoke) return ours
  return [...ours, ...ofIt, ...(local ? [] : SHARED_ONLY), ...Object.keys(peers)]
}

/** A contender is opened anew in every round: only one of them is in Redis and in the processes at a time. */
async function play(scenario: Scenario, names: readonly string[], fleet: Fleet, options: BenchOptions): Promise<Seen> {
  const { game, processes = 8, local = false } = scenario
  const quick = options.smoke ? { ...game, loadTime: Math.min(game.loadTime, 100) } : game
  const contenders = names.map((name) => ({
    name,
    async measure() {
      await fleet.open(name, quick, { processes, local })
      return await scenario.play(fleet, options.smoke)
    },
  }))
  const seen = await interleave(contenders, Math.min(options.rounds, scenario.mostRounds))
  if (!scenario.columns.some((column) => column === 'commands' || column === 'perCall')) return seen
  // Counted apart: who counts slows the server down.
  const counts = await interleave(
    names.map((name) => ({ name, measure: () => count(name, quick, scenario, fleet) })),
    1,
  )
  return new Map([...seen].map(([name, rounds]) => [name, [...rounds, ...(counts.get(name) ?? [])]]))
}

async function count(
  name: string,
  game: Scenario['game'],
  scenario: Scenario,
  fleet: Fleet,
): Promise<{ commands: number; perCall: number }> {
  await fleet.open(name, game, { processes: scenario.processes ?? 8 })
  let calls = Number.NaN
  const commands = await fleet.sent(async () => {
    ;({ calls = Number.NaN } = await scenario.play(fleet, false))
  })
  return { commands, perCall: (commands * fleet.size) / calls }
}

function table({ id, title, columns }: Scenario, names: readonly string[], seen: Seen): Table {
  return {
    id: `stampede-${id}`,
    title,
    columns: columns.map((column) => ({ id: column, ...COLUMNS[column] })),
    rows: names.map((name) => ({
      name,
      is: name in floors ? 'floor' : name.startsWith('cattlegrid') ? 'ours' : 'peer',
      cells: figuresOf(seen, name, columns),
    })),
  }
}
