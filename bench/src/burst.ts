// A burst of reads at once: what the window of the bulkhead brings beside fixed bounds, for small and large values, near and far servers.
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import { startRelay } from './run/relay.ts'
import type { Findings, Row, Table } from './run/result.ts'
import { figuresOf, interleave, ratio } from './run/rounds.ts'

const READS = 2000
/** Of values so large that the process would not hold as many. */
const LARGE = 500_000
const LARGE_READS = 500
const OURS = 'adaptive'
const FIXED = [32, 128, 256, 512]
const NAMES = [OURS, ...FIXED.map((bound) => `fixed, ${bound}`)]

/** `delay`: that of each reply, ms. */
interface Scenario {
  readonly bytes: number
  readonly delay: number
}

const scenarios: readonly Scenario[] = [
  { bytes: 200, delay: 0 },
  { bytes: 100_000, delay: 0 },
  { bytes: 200, delay: 5 },
  { bytes: 200, delay: 25 },
  { bytes: 100_000, delay: 5 },
  { bytes: LARGE, delay: 0 },
]

await runBench('burst', (options) => withCleanup((later) => measureBursts(options, later)))

async function measureBursts(options: BenchOptions, later: Later): Promise<Findings> {
  const redis = await startRedis({ own: true })
  later(() => redis.stop())
  const tables: Table[] = []
  for (const scenario of scenarios) tables.push(await measure(scenario, redis, options))
  return { tables, targets: [] }
}

async function measure({ bytes, delay }: Scenario, redis: RedisServer, options: BenchOptions): Promise<Table> {
  const reads = options.smoke ? 100 : bytes < LARGE ? READS : LARGE_READS
  const names = chosen(NAMES, options)
  const seen = await withCleanup(async (later) => {
    const relay = delay === 0 ? undefined : await startRelay(redis.port, delay)
    if (relay !== undefined) later(() => relay.close())
    const contenders = []
    for (const name of names) {
      const bound = name === OURS ? '' : String(FIXED[NAMES.indexOf(name) - 1])
      const member = await startMember('burst-member.js', [bound, (relay ?? redis).url])
      later(() => member.stop())
      if (contenders.length === 0) await member.ask('fill', reads, bytes)
      const read = (): Promise<Record<string, number>> => member.ask('read', reads, bytes)
      await read()
      contenders.push({ name, measure: read })
    }
    return await interleave(contenders, options.rounds)
  })
  const rows = names.map((name): Row => {
    const { ms, away } = figuresOf(seen, name, ['ms', 'away'])
    return {
      name,
      is: name === OURS ? 'ours' : 'peer',
      cells: { ms: ms ?? '', ratio: ratio(seen, name, OURS, 'ms'), away: away ?? '' },
    }
  })
  const server = delay === 0 ? 'on this machine' : `whose replies come ${delay} ms later`
  return {
    id: `burst-${bytes}-${delay}`,
    title: `${reads.toLocaleString('en')} reads at once of ${bytes.toLocaleString('en')} bytes, from a server ${server}`,
    columns: [
      { id: 'ms', title: 'ms', digits: 0 },
      { id: 'ratio', title: `time, ${OURS} = 1`, digits: 2 },
      { id: 'away', title: 'reads without an answer', digits: 0 },
    ],
    rows,
  }
}
