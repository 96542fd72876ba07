import { chosen } from '../run/bench.ts'
import type { Row, Series } from '../run/result.ts'
import { interleave, type Seen } from '../run/rounds.ts'
import type { OverloadOptions } from './options.ts'
import { play, type Played, type Stage } from './play.ts'
import { contenders } from './rows.ts'
import type { Scene } from './scenes.ts'

export interface Plays {
  readonly names: readonly string[]
  readonly seen: Seen
  readonly series: readonly Series[]
}

/** Plays a scene with each of these rows in turn, once for each seed; a row that this version does not have is left out. */
export async function playAll(
  scene: Scene,
  rows: readonly string[],
  stage: Stage,
  options: OverloadOptions,
  figures: (played: Played) => Readonly<Record<string, number>>,
): Promise<Plays> {
  const names = chosen(
    rows.filter((name) => name in contenders),
    options,
  )
  const series: Series[] = []
  const turns = names.map((name) => {
    let { seed } = options
    return {
      name,
      async measure() {
        const played = await play(scene, name, seed, stage)
        if (seed === options.seed) series.push(seriesOf(scene, name, played))
        seed += 1
        return figures(played)
      },
    }
  })
  return { names, seen: await interleave(turns, options.rounds), series }
}

export function kindOf(name: string): Row['is'] {
  return contenders[name]?.is ?? 'ours'
}

/** The worst of all rounds: what is wanted is wanted with each seed. */
export function leastOf(seen: Seen, name: string, what: string): number {
  return Math.min(...(seen.get(name) ?? []).map((round) => round[what] ?? Number.NaN))
}

function seriesOf({ id }: Scene, name: string, { seconds, source }: Played): Series {
  return {
    id: `overload-${id}`,
    name,
    seconds: {
      calls: seconds.map(({ calls }) => calls),
      good: seconds.map(({ good }) => good),
      late: seconds.map(({ late }) => late),
      refused: seconds.map(({ refused }) => refused),
      failed: seconds.map(({ failed }) => failed),
      gone: seconds.map(({ gone }) => gone),
      loads: source.map(({ served }) => served),
      queued: source.map(({ queued }) => queued),
    },
  }
}
