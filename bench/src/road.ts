// How far one call goes: the files that it enters, and how often it goes from one to another.
import { startRedis } from '@cattlegrid/testkit'
import { type BenchOptions, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import type { Findings, Table, Target } from './run/result.ts'

const ROADS = [
  { id: 'hit', title: 'A hit in Redis', files: undefined, stays: undefined },
  { id: 'memory', title: 'A miss in process', files: undefined, stays: undefined },
  { id: 'miss', title: 'A miss in Redis', files: 40, stays: 55 },
  { id: 'express', title: 'A request of Express that misses in Redis', files: undefined, stays: undefined },
]
const columns = [{ id: 'stays', title: 'stays', digits: 0 }]

await runBench('road', (options) => withCleanup((later) => walkRoads(options, later)))

async function walkRoads({ only }: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const tables: Table[] = []
  const targets: Target[] = []
  for (const { id, title, files, stays } of ROADS) {
    if (only !== undefined && !only.includes(id)) continue
    const member = await startMember('road/member.js', [server.url])
    const entered = await member.ask<readonly string[]>(id)
    await member.stop()
    const visits = entered.filter((file, index) => file !== entered[index - 1])
    const counts = new Map<string, number>()
    for (const file of visits) counts.set(file, (counts.get(file) ?? 0) + 1)
    const rows = [...counts].map(([name, count]) => ({ name, is: 'ours' as const, cells: { stays: count } }))
    tables.push({ id: `road-${id}`, title: `${title}: ${counts.size} files, ${visits.length} stays`, columns, rows })
    if (files !== undefined)
      targets.push({ what: `${title}: files`, op: '<=', wanted: files, got: counts.size, unit: '' })
    if (stays !== undefined)
      targets.push({ what: `${title}: stays`, op: '<=', wanted: stays, got: visits.length, unit: '' })
  }
  return { tables, targets }
}
