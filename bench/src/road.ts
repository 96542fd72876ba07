// How far one call goes: the files that it enters, and how often it goes from one to another.
import { startRedis } from '@cattlegrid/testkit'
import { type BenchOptions, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import type { Findings, Table, Target } from './run/result.ts'

/** `most`: the targets, for all files, or for those of these packages. */
interface Road {
  readonly id: string
  readonly title: string
  readonly most?: { readonly files: number; readonly stays: number; readonly of?: readonly string[] }
}

const ROADS: readonly Road[] = [
  { id: 'hit', title: 'A hit in Redis' },
  { id: 'memory', title: 'A miss in process' },
  { id: 'miss', title: 'A miss in Redis', most: { files: 40, stays: 55 } },
  {
    id: 'express',
    title: 'A request of Express that misses in Redis',
    most: { files: 25, stays: 40, of: ['express', 'http'] },
  },
]
const columns = [{ id: 'stays', title: 'stays', digits: 0 }]

await runBench('road', (options) => withCleanup((later) => walkRoads(options, later)))

async function walkRoads({ only }: BenchOptions, later: Later): Promise<Findings> {
  const server = await startRedis({ own: true })
  later(() => server.stop())
  const tables: Table[] = []
  const targets: Target[] = []
  for (const { id, title, most } of ROADS) {
    if (only !== undefined && !only.includes(id)) continue
    const member = await startMember('road/member.js', [server.url])
    const entered = await member.ask<readonly string[]>(id)
    await member.stop()
    const visits = entered.filter((file, index) => file !== entered[index - 1])
    const counts = new Map<string, number>()
    for (const file of visits) counts.set(file, (counts.get(file) ?? 0) + 1)
    const rows = [...counts].map(([name, count]) => ({ name, is: 'ours' as const, cells: { stays: count } }))
    tables.push({ id: `road-${id}`, title: `${title}: ${counts.size} files, ${visits.length} stays`, columns, rows })
    if (most === undefined) continue
    const { of } = most
    const counted = of === undefined ? visits : visits.filter((file) => of.includes(file.split('/')[0] ?? ''))
    const what = of === undefined ? title : `${title}, in ${of.join(' and ')}`
    targets.push({ what: `${what}: files`, op: '<=', wanted: most.files, got: new Set(counted).size, unit: '' })
    targets.push({ what: `${what}: stays`, op: '<=', wanted: most.stays, got: counted.length, unit: '' })
  }
  return { tables, targets }
}
