import type { Change, SourceTraits } from './source.ts'
import type { Traffic } from './traffic.ts'

/** What happens to a fleet and its source; times in ms, from the flush or the begin of what is measured. */
export interface Scene {
  readonly id: string
  readonly title: string
  /** One, or two: the second one has every tenth key. */
  readonly sources: readonly SourceTraits[]
  readonly traffic: Omit<Traffic, 'seed'>
  readonly ttl: number
  /** How long calls come before that. */
  readonly warm: number
  readonly duration: number
  /** Whether Redis and the processes are emptied at 0. */
  readonly flush: boolean
  readonly change?: Change & { readonly at: number }
}

/** How large and how long the runs are; ms. */
export interface Length {
  readonly members: number
  /** For a slow machine: calls, keys and the capacity of the source are divided by this. */
  readonly scale: number
  readonly warm: number
  /** The run with a ttl wave in it. */
  readonly ttl: number
  readonly duration: number
  /** The fleet has recovered by then. */
  readonly early: number
  /** The runs in which the source changes, or is a particular one. */
  readonly changed: number
  readonly doubled: number
  readonly healthy: number
  /** How long a healthy source is asked before, so that the fleet has found what it can take: a time, and so many loads one after the other. */
  readonly found: number
  readonly loadsToFind: number
  /** Lone loads. */
  readonly lone: number
}

export const FULL: Length = {
  members: 4,
  scale: 1,
  warm: 6000,
  ttl: 60_000,
  duration: 90_000,
  early: 10_000,
  changed: 30_000,
  doubled: 55_000,
  healthy: 10_000,
  found: 15_000,
  loadsToFind: 100,
  lone: 5000,
}
export const SHORT: Length = { ...FULL, ttl: 15_000, duration: 45_000, lone: 2000 }
export const SMOKE: Length = {
  members: 2,
  scale: 10,
  warm: 500,
  ttl: 1000,
  duration: 3000,
  early: 1000,
  changed: 2000,
  doubled: 2000,
  healthy: 500,
  found: 250,
  loadsToFind: 1,
  lone: 50,
}

const CAPACITY = 500
const CALLS = 2000
const KEYS = 5000
/** So many keys that hardly one is asked for twice within a ttl. */
const MANY_KEYS = 100_000
const HOUR = 3_600_000
const CHANGE_AT = 5000
const DOUBLED_AT = 15_000
const DOUBLED_DEMAND = 900

/** Whether the second source has the key. */
export function isOfSecond(rank: number): boolean {
  return rank % 10 === 0
}

const healthySource = (atOnce: number, scale: number): SourceTraits => ({ atOnce, perSecond: CAPACITY / scale })

function zipf(scale: number): Scene['traffic'] {
  return { rate: CALLS / scale, keys: KEYS / scale, spread: 'zipf' }
}

function uniform(rate: number, scale: number): Scene['traffic'] {
  return { rate: rate / scale, keys: MANY_KEYS / scale, spread: 'uniform' }
}

export function flushScene(atOnce: number, { scale, ttl, warm, duration }: Length): Scene {
  const { rate, keys } = zipf(scale)
  const calls = `${rate.toLocaleString('en')} calls a second on ${keys.toLocaleString('en')} Zipf keys`
  return {
    id: `flush-${atOnce}`,
    title: `Flushed at full load: ${calls}, ttl ${ttl / 1000} s; a source of ${CAPACITY / scale} loads a second, ${atOnce} at once`,
    sources: [healthySource(atOnce, scale)],
    traffic: zipf(scale),
    ttl,
    warm,
    duration,
    flush: true,
  }
}

/** The same flush before sources of other kinds, without the wave. */
export function changedScenes(atOnce: number, { scale, warm, changed, doubled }: Length): readonly Scene[] {
  const source = healthySource(atOnce, scale)
  const flushed = (id: string, title: string, rest: Partial<Scene>): Scene => ({
    id,
    title,
    sources: [source],
    traffic: zipf(scale),
    ttl: HOUR,
    warm,
    duration: changed,
    flush: true,
    ...rest,
  })
  const at = Math.min(CHANGE_AT, changed / 2)
  const { perSecond } = source
  return [
    flushed('fewer-workers', `Flushed, and ${at / 1000} s later the source loses half of its ${atOnce} workers`, {
      change: { at, workers: 0.5, time: 1 },
    }),
    flushed('slower-loads', `Flushed, and ${at / 1000} s later each load takes twice the time`, {
      change: { at, workers: 1, time: 2 },
    }),
    flushed('two-sources', 'Flushed; a second source, for every tenth key, takes five times as long for a load', {
      sources: [source, { atOnce, perSecond: perSecond / 5 }],
    }),
    flushed('slow-key', 'Flushed; the key of rank 20 takes 5 s', { sources: [{ ...source, slowRank: 20 }] }),
    flushed('absent-keys', 'Flushed; the source soon answers 404 for every 20th key', {
      sources: [{ ...source, absentEvery: 20 }],
    }),
    {
      id: 'doubled',
      title: `${DOUBLED_DEMAND / scale} loads a second are asked of a source of ${perSecond}; its workers double`,
      sources: [source],
      traffic: uniform(DOUBLED_DEMAND, scale),
      ttl: 1000,
      warm,
      duration: doubled,
      flush: false,
      change: { at: Math.min(DOUBLED_AT, doubled / 2), workers: 2, time: 1 },
    },
  ]
}

/** Nearly every call loads, and the source can do it. */
export function healthyScene(atOnce: number, share: number, { scale, found, loadsToFind, healthy }: Length): Scene {
  const source = healthySource(atOnce, scale)
  return {
    id: `healthy-${atOnce}-${share * 100}`,
    title: `A healthy source, ${atOnce} at once, at ${share * 100} % of its capacity`,
    sources: [source],
    traffic: uniform(share * CAPACITY, scale),
    ttl: 1000,
    warm: found + (loadsToFind * 1000 * atOnce) / source.perSecond,
    duration: healthy,
    flush: false,
  }
}
