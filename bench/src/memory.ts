// What a cached entry of 1 KB weighs, beside the same in a Map, and whether its weight stays the same as entries become many.
import { peers } from './contenders/peers.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { startMember } from './run/member.ts'
import type { Curve, Findings } from './run/result.ts'
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
  const rows = taking.map((name) => ({
    name,
    is: name === OURS ? ('ours' as const) : name === FLOOR ? ('floor' as const) : ('peer' as const),
    cells: { bytes: figureOf(seen, name, 'bytes'), ratio: ratio(seen, name, FLOOR, 'bytes') },
  }))
  const columns = [
    { id: 'bytes', title: 'heap per entry, bytes', digits: 0 },
    { id: 'ratio', title: 'Map = 1', digits: 2 },
  ]
  const curves: Curve[] = []
  for (const name of [FLOOR, OURS]) curves.push(await growth(name, options.smoke ? SIZES.slice(0, 1) : SIZES))
  return {
    tables: [{ id: 'memory', title: `Heap of ${entries.toLocaleString('en')} entries of 1 KB`, columns, rows }],
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
    plots: [{ id: 'memory-entries', title: 'Heap per entry of 1 KB', x: 'entries', y: 'bytes', curves }],
  }
}

async function growth(name: string, sizes: readonly number[]): Promise<Curve> {
  const points: (readonly [number, number])[] = []
  for (const size of sizes) points.push([size, await weigh(name, size)])
  return { name, is: name === OURS ? 'ours' : 'floor', points }
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
