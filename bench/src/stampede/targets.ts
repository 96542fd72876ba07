import type { Target } from '../run/result.ts'
import { figureOf, type Seen } from '../run/rounds.ts'

type Wanted = readonly [column: string, op: Target['op'], wanted: number, unit: string]

interface Aim {
  readonly what: string
  readonly who?: string
  readonly wants: readonly Wanted[]
}

const loads = (wanted: number): Wanted => ['loads', '=', wanted, 'loads']
const p99 = (wanted: number): Wanted => ['p99', '<=', wanted, 'ms p99']

/** By scenario. */
const aims: Readonly<Record<string, readonly Aim[]>> = {
  'one-process': [{ what: 'Cold key, 1 process, 1,000 callers', wants: [loads(1), p99(210)] }],
  cold: [
    { what: 'Cold key, 8 × 200 callers', wants: [loads(1), p99(215), ['commands', '<=', 8, 'commands a process']] },
  ],
  stale: [{ what: 'Expired key, 8 × 200 callers, stale allowed', wants: [loads(1), p99(10)] }],
  long: [{ what: 'Loader longer than a lease, 8 × 200 callers', who: 'cattlegrid, short lease', wants: [loads(1)] }],
  many: [{ what: '100 cold keys, 6 processes', wants: [loads(100)] }],
  'sustained-stale': [
    {
      what: 'Hot key, stale allowed',
      wants: [['perExpiry', '=', 1, 'loads per expiry'], p99(3), ['waited', '=', 0, 'of the callers wait']],
    },
  ],
  sustained: [
    { what: 'Hot key, nothing stale allowed', wants: [['perExpiry', '=', 1, 'loads per expiry']] },
    {
      what: 'Hot key, nothing stale allowed, early refresh',
      who: 'cattlegrid, early refresh',
      wants: [['perExpiry', '=', 1, 'loads per expiry'], p99(3), ['waited', '=', 0, 'of the callers wait']],
    },
  ],
  failing: [
    { what: 'Loader fails, 8 × 200 callers', wants: [loads(1), p99(250), ['unanswered', '=', 0, 'without an answer']] },
  ],
}

export function burstTargets(id: string, seen: Seen): readonly Target[] {
  return (aims[id] ?? []).flatMap(({ what, who = 'cattlegrid', wants }) =>
    seen.has(who)
      ? wants.map(([column, op, wanted, unit]) => ({ what, op, wanted, unit, got: figureOf(seen, who, column) }))
      : [],
  )
}
