import type { Column, Findings, Target } from '../run/result.ts'
import { figureOf, figuresOf } from '../run/rounds.ts'
import { goodShare, perSecond } from './calls.ts'
import type { OverloadOptions } from './options.ts'
import type { Played, Stage } from './play.ts'
import { kindOf, playAll } from './plays.ts'
import { FIXED, NO_LIMIT, OURS } from './rows.ts'
import { isOfSecond, type Scene } from './scenes.ts'

const GOOD_AGAIN = 95
/** Of what the source can do, or is asked for. */
const USED = 0.9
/** A rate is that of this time, s. */
const RATE_OVER = 3

const COLUMNS: readonly Column[] = [
  { id: 'good', title: 'good, %', digits: 1 },
  { id: 'first', title: 'of the first source, %', digits: 1 },
  { id: 'second', title: 'of the second, %', digits: 1 },
  { id: 'again', title: 'good again after the change, s', digits: 0 },
  { id: 'used', title: 'used after the change, s', digits: 0 },
  { id: 'loads', title: 'loads', digits: 0 },
  { id: 'queue', title: 'longest queue', digits: 0 },
]

/** One scene whose source changes, or is of another kind. */
export async function changedTable(scene: Scene, stage: Stage, options: OverloadOptions): Promise<Findings> {
  const names = options.smoke ? [OURS] : [OURS, NO_LIMIT, ...FIXED]
  const { seen, names: played, series } = await playAll(scene, names, stage, options, (one) => figures(one, scene))
  const columns = COLUMNS.filter(({ id }) => played.some((name) => seen.get(name)?.some((round) => id in round)))
  const ids = columns.map(({ id }) => id)
  return {
    tables: [
      {
        id: `overload-${scene.id}`,
        title: scene.title,
        columns,
        rows: played.map((name) => ({ name, is: kindOf(name), cells: figuresOf(seen, name, ids) })),
      },
    ],
    targets: seen.has(OURS) ? targetOf(scene, OURS, (what) => figureOf(seen, OURS, what)) : [],
    series,
  }
}

function figures(played: Played, scene: Scene): Record<string, number> {
  const { seconds, source } = played
  return {
    good: goodShare(seconds),
    ...(scene.sources.length > 1 ? ofEachSource(played) : {}),
    ...(scene.change === undefined
      ? {}
      : scene.flush
        ? { again: goodAgain(played, scene) }
        : { used: used(played, scene) }),
    loads: source.reduce((sum, { arrived }) => sum + arrived, 0),
    queue: Math.max(...source.map(({ queued }) => queued)),
  }
}

function ofEachSource({ calls, seconds }: Played): Record<string, number> {
  const share = (counts: (rank: number) => boolean): number => goodShare(perSecond(calls, seconds.length, counts))
  return { first: share((rank) => !isOfSecond(rank)), second: share(isOfSecond) }
}

function targetOf(scene: Scene, name: string, figure: (what: string) => Target['got']): readonly Target[] {
  if (scene.change === undefined) return []
  const [what, wanted, unit] = scene.flush
    ? (['again', 10, 's until good again'] as const)
    : (['used', 30, 's until used'] as const)
  return [{ what: `${scene.title}: ${name}`, op: '<=', wanted, got: figure(what), unit }]
}

/** From the change to the end of the last second that is not good; the rest of the run where that is the last one, s. */
function goodAgain({ seconds }: Played, { change }: Scene): number {
  const from = Math.floor((change?.at ?? 0) / 1000)
  const last = seconds.findLastIndex((one, second) => second >= from && goodShare([one]) < GOOD_AGAIN)
  return last < 0 ? 0 : last + 1 - from
}

/** From the change until the source answers as many loads as it can, or as it is asked for; the rest of the run where it never does, s. */
function used({ source }: Played, { change, sources, traffic }: Scene): number {
  const from = Math.floor((change?.at ?? 0) / 1000)
  const capacity = (sources[0]?.perSecond ?? 0) * (change?.workers ?? 1)
  const wanted = USED * Math.min(traffic.rate, capacity)
  const rateAt = (second: number): number =>
    source.slice(second, second + RATE_OVER).reduce((sum, { served }) => sum + served, 0) / RATE_OVER
  const found = source.findIndex((_, second) => second >= from && rateAt(second) >= wanted)
  return (found < 0 ? source.length : found) - from
}
