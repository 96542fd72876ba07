import type { Findings, Target } from '../run/result.ts'
import { figuresOf } from '../run/rounds.ts'
import { goodShare } from './calls.ts'
import type { OverloadOptions } from './options.ts'
import type { Played, Stage } from './play.ts'
import { kindOf, leastOf, playAll, type Plays } from './plays.ts'
import { contenders, FIXED, OURS } from './rows.ts'
import { flushScene, type Length } from './scenes.ts'

const COLUMNS = [
  { id: 'early', title: 'good in 0–10 s, %', digits: 1 },
  { id: 'late', title: 'good from 10 s to the end, %', digits: 1 },
  { id: 'wave', title: 'good in the ttl wave, %', digits: 1 },
  { id: 'worst', title: 'worst second after 10 s, %', digits: 0 },
  { id: 'loads', title: 'loads', digits: 0 },
  { id: 'queue', title: 'longest queue', digits: 0 },
]
/** How long the keys of the first seconds take to expire and to be loaded again, s. */
const WAVE = 10

export async function flushTable(atOnce: number, stage: Stage, options: OverloadOptions): Promise<Findings> {
  const scene = flushScene(atOnce, options.length)
  const names = options.smoke ? [OURS] : Object.keys(contenders)
  const plays = await playAll(scene, names, stage, options, (played) => figures(played, options.length))
  const columns = COLUMNS.map(({ id }) => id)
  return {
    tables: [
      {
        id: `overload-${scene.id}`,
        title: scene.title,
        columns: COLUMNS,
        rows: plays.names.map((name) => ({ name, is: kindOf(name), cells: figuresOf(plays.seen, name, columns) })),
      },
    ],
    targets: plays.seen.has(OURS) ? targets(atOnce, OURS, plays) : [],
    series: plays.series,
  }
}

function figures({ seconds, source }: Played, { early, ttl }: Length): Record<string, number> {
  const late = seconds.slice(early / 1000)
  const expiry = ttl / 1000
  return {
    early: goodShare(seconds.slice(0, early / 1000)),
    late: goodShare(late),
    wave: goodShare(seconds.slice(expiry, expiry + WAVE)),
    worst: Math.min(...late.map((one) => goodShare([one]))),
    whole: goodShare(seconds),
    loads: source.reduce((sum, { arrived }) => sum + arrived, 0),
    queue: Math.max(...source.map(({ queued }) => queued)),
  }
}

function targets(atOnce: number, name: string, { seen }: Plays): readonly Target[] {
  const what = `Flushed, source of ${atOnce} at once`
  const late = leastOf(seen, name, 'late')
  const best = Math.max(...FIXED.filter((one) => seen.has(one)).map((one) => leastOf(seen, one, 'whole')))
  const share = leastOf(seen, name, 'whole') / best
  return [
    { what: `${what}: ${name}`, op: '>=', wanted: 95, got: late, unit: '% good from 10 s on' },
    ...(best > 0 ? [compared(`${what}: ${name}`, share)] : []),
  ]
}

function compared(what: string, got: number): Target {
  return { what, op: '>=', wanted: 0.95, got, unit: '× as many good as the best fixed maxLoads' }
}
