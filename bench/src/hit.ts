// What a hit in process costs: one caller after another, a string key, a small object.
import { startRedis } from '@cattlegrid/testkit'
import { floors, ours } from './contenders/hits.ts'
import { peers } from './contenders/peers.ts'
import { type BenchOptions, chosen, runBench } from './run/bench.ts'
import { type Later, withCleanup } from './run/cleanup.ts'
import { startMember } from './run/member.ts'
import type { Figure } from './run/figure.ts'
import type { Findings, Row, Target } from './run/result.ts'
import { figureOf, interleave, inverse, ratio, type Seen } from './run/rounds.ts'

const WARM_UP = 300
const FLOOR = 'async function over a Map'
const names = [...Object.keys(floors), ...Object.keys(ours), ...Object.keys(peers)]

const TITLE = 'Hit in process: 100 string keys in turn, one await after another'
const COLUMNS = [
  { id: 'ns', title: 'ns per await', digits: 0 },
  { id: 'cpu', title: 'CPU, ns', digits: 0 },
  { id: 'ratio', title: 'speed, floor = 1', digits: 2 },
  { id: 'byCpu', title: 'the same by CPU', digits: 2 },
  { id: 'bytes', title: 'bytes left', digits: 0 },
]

await runBench('hit', (options) => withCleanup((later) => measureHits(options, later)))

async function measureHits(options: BenchOptions, later: Later): Promise<Findings> {
  const redis = await startRedis({ own: true })
  later(() => redis.stop())
  const contenders = []
  for (const name of chosen(names, options)) {
    const member = await startMember('hit-member.js', [name, redis.url], ['--expose-gc'])
    later(() => member.stop())
    await member.ask('warmUp', options.smoke ? 5 : WARM_UP)
    const measure = (): Promise<Record<string, number>> => member.ask('measure', options.smoke ? 5 : 150)
    contenders.push({ name, measure })
  }
  const seen = await interleave(contenders, options.rounds)
  const rows = contenders.map(({ name }): Row => {
    return {
      name,
      is: name in ours ? 'ours' : name in floors ? 'floor' : 'peer',
      cells: {
        ns: figureOf(seen, name, 'ns'),
        cpu: figureOf(seen, name, 'cpu'),
        ratio: inverse(ratio(seen, name, FLOOR, 'ns')),
        byCpu: inverse(ratio(seen, name, FLOOR, 'cpu')),
        bytes: figureOf(seen, name, 'bytes'),
      },
    }
  })
  const found = [...targets(seen), ...observed(seen)]
  return { tables: [{ id: 'hit', title: TITLE, columns: COLUMNS, rows }], targets: found }
}

function targets(seen: Seen): readonly Target[] {
  const best = Object.keys(peers)
    .filter((name) => seen.has(name))
    .toSorted((one, other) => figureOf(seen, one, 'ns').median - figureOf(seen, other, 'ns').median)[0]
  return ['getOrSet, every feature', 'near cache, every feature'].flatMap((name): readonly Target[] => {
    if (!seen.has(name) || !seen.has(FLOOR) || best === undefined) return []
    const against = (other: string): Figure => inverse(ratio(seen, name, other, 'ns'))
    return [
      {
        what: `Hit in process, ${name}: speed against ${FLOOR}`,
        op: '>=',
        wanted: 0.85,
        got: against(FLOOR),
        unit: '×',
      },
      {
        what: `Hit in process, ${name}: speed against ${best}, the fastest peer`,
        op: '>=',
        wanted: 1,
        got: against(best),
        unit: '×',
      },
    ]
  })
}

/** What somebody who listens to hits costs each of them. */
function observed(seen: Seen): readonly Target[] {
  return ['getOrSet, with a listener of hits', 'getOrSet, with a subscriber of hits'].flatMap((name) => {
    if (!seen.has(name) || !seen.has('getOrSet')) return []
    const got = ratio(seen, name, 'getOrSet', 'cpu')
    return [{ what: `Hit in process, ${name}: CPU of getOrSet`, op: '<=' as const, wanted: 1.3, got, unit: '×' }]
  })
}
