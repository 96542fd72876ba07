// What a cached entry of 1 KB weighs, beside the same in a Map, and whether its weight stays the same as entries become many.
import { peers } from './contenders/peers.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { startMember } from './run/member.ts'
import { amountColumns, type Findings, type Row, type Table } from './run/result.ts'
import { figureOf, interleave, ratio } from './run/rounds.ts'

const FLOOR = 'Map'
const OURS = 'cattlegrid'
const names = [FLOOR, 'lru-cache', OURS, ...Object.keys(peers)]
// The peers are opened with room for 10,000: one more than these would put the first ones out.
const ENTRIES = 9000
const MOST_ROUNDS = 5
const SIZES = [1000, 10_000, 100_000]

await runBench('memory', measureMemory)

async function measureMemory(options: BenchOptions): Promise<Findings> {
  const entries = options.smoke ? 500 : ENTRIES
  const taking = chosen(names, options)
  const contenders = taking.map((name) => ({ name, measure: async () => ({ bytes: await weigh(name, entries) }) }))
  const seen = await interleave(contenders, Math.min(options.rounds, MOST_ROUNDS))
  const rows = taking.map((name): Row => ({
    name,
    is: name === OURS ? 'ours' : name === FLOOR ? 'floor' : 'peer',
    cells: { bytes: figureOf(seen, name, 'bytes'), ratio: ratio(seen, name, FLOOR, 'bytes') },
  }))
  const columns = [
    { id: 'bytes', title: 'heap per entry, bytes', digits: 0 },
    { id: 'ratio', title: 'Map = 1', digits: 2 },
  ]
  return {
    tables: [
      { id: 'memory', title: `Heap of ${entries.toLocaleString('en')} entries of 1 KB`, columns, rows },
      await growth(options.smoke ? SIZES.slice(0, 1) : SIZES),
    ],
    targets: seen.has(OURS)
      ? [
          {
            what: 'Heap per entry of 1 KB, against a Map',
            op: '<=',
            wanted: 1.3,
            got: ratio(seen, OURS, FLOOR, 'bytes'),
            unit: '×',
          },
        ]
      : [],
  }
}

async function growth(sizes: readonly number[]): Promise<Table> {
  const rows: Row[] = []
  for (const name of [FLOOR, OURS]) {
    const cells: Record<string, number> = {}
    for (const size of sizes) cells[size] = await weigh(name, size)
    rows.push({ name, is: name === OURS ? 'ours' : 'floor', cells })
  }
  return {
    id: 'memory-entries',
    title: 'Heap per entry of 1 KB, bytes, by the number of entries',
    columns: amountColumns(sizes),
    rows,
  }
}

/** A process for each time: what another left behind would be weighed with it. */
async function weigh(name: string, entries: number): Promise<number> {
  const member = await startMember('memory-member.js', [name, String(entries)], ['--expose-gc'])
  try {
    return await member.ask('fill', entries)
  } finally {
    await member.stop()
  }
}
