// What a cached entry weighs, beside the same in a Map: one of 1 KB, one of other sizes, and whether its weight stays the same as entries become many; a near copy, and a key
// that is being loaded.
import { startRedis } from '@cattlegrid/testkit'
import { peers } from './contenders/peers.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import { amountColumns, type Findings, type Row, type Table, type Target } from './run/result.ts'
import { figureOf, interleave, ratio, type Seen } from './run/rounds.ts'

const FLOOR = 'Map'
const OURS = 'cattlegrid'
/** The least that an entry needs which can be stale, fenced and evicted, as an object. */
const RECORDS = 'Map of records'
const names = [FLOOR, RECORDS, 'lru-cache', OURS, ...Object.keys(peers)]
// The peers are opened with room for 10,000: one more than twice these would put the first ones out.
const ENTRIES = 4500
const MOST_ROUNDS = 5
/** Twice as many of 10 KB fit into the limit of every peer. */
const ENTRIES_OF_A_SIZE = 2500
const COUNTS = [1000, 10_000, 100_000]
/** Bytes of JSON. */
const SMALLEST = 50
const SIZES = [SMALLEST, 250, 1000, 10_000]
/** Heap per entry of the smallest size, bytes. */
const WANTED = 220
/** Twice as many are more than this process remembers of the keys that it read a moment ago. */
const COPIES = 5000
/** Keys that load at once. */
const LOADING = 1000

/** How many keys are weighed, after as many others. */
const amountOf = { fill: COPIES, read: COPIES, load: LOADING }

/** A kind of key that is no entry of a memory store. */
interface OtherKey {
  readonly name: string
  readonly contender: string
  readonly skill: keyof typeof amountOf
  readonly inRedis?: boolean
  /** Bytes; undefined: it is a floor. */
  readonly wanted?: number
}

const otherKeys: readonly OtherKey[] = [
  { name: 'Map of Buffers', contender: 'Map of Buffers', skill: 'fill' },
  { name: 'cattlegrid, near copy', contender: 'cattlegrid, near copies', skill: 'read', inRedis: true, wanted: 450 },
  { name: 'a promise with a time-out', contender: 'Map of promises with a time-out', skill: 'load' },
  { name: 'the same under a lease', contender: 'Map of leased loads', skill: 'load' },
  { name: 'cattlegrid, loading', contender: OURS, skill: 'load', wanted: 4096 },
  {
    name: 'cattlegrid, loading for Redis',
    contender: 'cattlegrid, near copies',
    skill: 'load',
    inRedis: true,
    wanted: 4096,
  },
]

await runBench('memory', (options) => withCleanup((later) => measureMemory(options, later)))

async function measureMemory(options: BenchOptions, later: Later): Promise<Findings> {
  const redis = await startRedis({ own: true })
  later(() => redis.stop())
  const entries = options.smoke ? 200 : ENTRIES
  const taking = chosen(names, options)
  const contenders = taking.map((name) => ({
    name,
    measure: async () => ({ bytes: await weigh(name, entries, { others: entries }) }),
  }))
  const seen = await interleave(contenders, Math.min(options.rounds, MOST_ROUNDS))
  const rows = taking.map((name): Row => ({
    name,
    is: kindOf(name),
    cells: { bytes: figureOf(seen, name, 'bytes'), ratio: ratio(seen, name, FLOOR, 'bytes') },
  }))
  const columns = [
    { id: 'bytes', title: 'heap per entry, bytes', digits: 0 },
    { id: 'ratio', title: 'Map = 1', digits: 2 },
  ]
  const sizes = await bySize(options.smoke ? [FLOOR, OURS] : taking, options.smoke ? SIZES.slice(0, 1) : SIZES)
  const kinds = await weighOthers(options, redis.url)
  return {
    tables: [
      { id: 'memory', title: `Heap of ${amongOthers(entries)} entries of 1 KB`, columns, rows },
      sizes,
      await growth(options.smoke ? COUNTS.slice(0, 1) : COUNTS),
      ...kinds.tables,
    ],
    targets: seen.has(OURS) ? [...targetsOf(seen, sizes), ...kinds.targets] : [],
  }
}

function targetsOf(seen: Seen, sizes: Table): readonly Target[] {
  const small = sizes.rows.find(({ name }) => name === OURS)?.cells[SMALLEST]
  return [
    {
      what: 'Heap per entry of 1 KB, against a Map',
      op: '<=',
      wanted: 1.3,
      got: ratio(seen, OURS, FLOOR, 'bytes'),
      unit: '×',
    },
    { what: `Heap per entry of ${SMALLEST} bytes`, op: '<=', wanted: WANTED, got: Number(small), unit: 'bytes' },
  ]
}

async function bySize(taking: readonly string[], sizes: readonly number[]): Promise<Table> {
  return {
    id: 'memory-sizes',
    title: `Heap per entry of ${amongOthers(ENTRIES_OF_A_SIZE)}, bytes, by the bytes of its value as JSON`,
    columns: amountColumns(sizes),
    rows: await rowsOf(taking, sizes, (name, size) =>
      weigh(name, ENTRIES_OF_A_SIZE, { size, others: ENTRIES_OF_A_SIZE }),
    ),
  }
}

async function weighOthers({ smoke }: BenchOptions, redis: string): Promise<Findings> {
  const rows: Row[] = []
  const targets: Target[] = []
  for (const { name, contender, skill, inRedis = false, wanted } of otherKeys) {
    const keys = smoke ? 100 : amountOf[skill]
    const bytes = await weigh(contender, keys, {
      size: SMALLEST,
      skill,
      others: keys,
      redis: inRedis ? redis : undefined,
    })
    rows.push({ name, is: wanted === undefined ? 'floor' : 'ours', cells: { bytes } })
    if (wanted !== undefined)
      targets.push({ what: `Heap per key: ${name}`, op: '<=', wanted, got: bytes, unit: 'bytes' })
  }
  const title = `Heap of one more near copy, and of one more key that loads: ${SMALLEST} bytes of JSON`
  const columns = [{ id: 'bytes', title: 'heap per key, bytes', digits: 0 }]
  return { tables: [{ id: 'memory-others', title, columns, rows }], targets }
}

async function growth(counts: readonly number[]): Promise<Table> {
  return {
    id: 'memory-entries',
    title: 'Heap per entry of 1 KB, bytes, by the number of entries, from an empty cache',
    columns: amountColumns(counts),
    rows: await rowsOf([FLOOR, OURS], counts, (name, count) => weigh(name, count)),
  }
}

/** A row for each name, with a cell for each amount. */
async function rowsOf(
  taking: readonly string[],
  amounts: readonly number[],
  weighOne: (name: string, amount: number) => Promise<number>,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const name of taking) {
    const cells: Record<string, number> = {}
    for (const amount of amounts) cells[amount] = await weighOne(name, amount)
    rows.push({ name, is: kindOf(name), cells })
  }
  return rows
}

function kindOf(name: string): Row['is'] {
  return name === OURS ? 'ours' : name === FLOOR || name === RECORDS ? 'floor' : 'peer'
}

function amongOthers(entries: number): string {
  return `${entries.toLocaleString('en')} more`
}

interface Weighed {
  /** Bytes of JSON. */
  readonly size?: number
  /** How many keys are there already: what belongs to the process, and not to each key, is not weighed. Default: none. */
  readonly others?: number
  readonly skill?: keyof typeof amountOf
  /** Its URL; undefined: the entries are in the process. */
  readonly redis?: string | undefined
}

/** A process for each time: what another left behind would be weighed with it. */
async function weigh(
  name: string,
  keys: number,
  { size = 1000, others = 0, skill = 'fill', redis }: Weighed = {},
): Promise<number> {
  const args = [name, String(keys + others), String(size), ...(redis === undefined ? [] : [redis])]
  const member = await startMember('memory-member.js', args, ['--expose-gc'])
  try {
    return await member.ask(skill, others, keys)
  } finally {
    await member.stop()
  }
}
