// The picture of the first page: one expiry, from the last hits of an entry to the first of the next. What is seen at a moment follows from the moment alone.

/** `stale`: an old copy may be served meanwhile. `wait`: it may not, so requests wait. */
export type Mode = 'stale' | 'wait'

export type Doing = 'hit' | 'leads' | 'waits' | 'got-stale' | 'woken'

export interface Request {
  readonly id: number
  /** The process that it reaches, from 0. */
  readonly process: number
  readonly doing: Doing
  readonly answered: boolean
}

export interface Scene {
  /** From 0; see `steps`. */
  readonly step: number
  readonly requests: readonly Request[]
  /** What is left of the entry's `ttl`, from 1 to 0. */
  readonly freshness: number
  readonly leaseHeld: boolean
  /** How far the query of the leader is, from 0 to 1; undefined while there is none. */
  readonly query: number | undefined
  readonly queries: number
  /** The commit has just been announced to all processes. */
  readonly notice: boolean
}

export const PROCESSES = 3
/** All times are in ms. */
export const LENGTH = 12_000
const EXPIRY = 2_400
const FIRST = 2_700
const QUERY = 3_900
const COMMIT = 7_200
const WAKE = 500
const NEXT_HITS = 8_800
const HERD = 18
const BETWEEN = 130

/** When each step of the story begins. */
export const stepTimes: readonly number[] = [0, FIRST, QUERY, COMMIT, NEXT_HITS]

/** A moment of each step at which what it tells can be seen. */
export const stillTimes: readonly number[] = [1_300, 3_800, 6_000, COMMIT + WAKE + 200, 10_900]

export function storyOf(mode: Mode): readonly string[] {
  return [
    'The entry is fresh: every request gets it at once.',
    'The entry expires, and requests arrive in all processes. The first one gets the lease: it leads.',
    mode === 'stale'
      ? 'The leader asks the database. All others get the stale copy at once.'
      : 'The leader asks the database. All others wait: there is no copy that they may have.',
    mode === 'stale'
      ? 'The leader stores the new value, and gives the lease back.'
      : 'The leader stores the new value. A notice wakes all that wait, in every process.',
    'The entry is fresh again. The database had one query.',
  ]
}

/** What is seen `now` ms after the beginning. */
export function sceneAt(mode: Mode, now: number): Scene {
  const committed = now >= COMMIT
  return {
    step: stepTimes.findLastIndex((time) => time <= now),
    requests: [...hits(now, 0, EXPIRY, 0), ...herd(mode, now), ...hits(now, NEXT_HITS, LENGTH, 200)],
    freshness: committed ? 1 - (now - COMMIT) / (2 * (LENGTH - COMMIT)) : Math.max(0, (0.5 * (EXPIRY - now)) / EXPIRY),
    leaseHeld: now >= FIRST && !committed,
    query: now >= QUERY && !committed ? (now - QUERY) / (COMMIT - QUERY) : undefined,
    queries: now >= QUERY ? 1 : 0,
    notice: now >= COMMIT && now < COMMIT + WAKE + 400,
  }
}

/** Requests that find a fresh entry: one of them is seen at a time in each process. */
function hits(now: number, from: number, to: number, firstId: number): Request[] {
  if (now < from || now >= to) return []
  const round = Math.floor((now - from) / 600)
  return Array.from({ length: PROCESSES }, (_, process) => ({
    id: firstId + round * PROCESSES + process,
    process,
    doing: 'hit',
    answered: (now - from) % 600 > 150,
  }))
}

function herd(mode: Mode, now: number): Request[] {
  if (now >= NEXT_HITS) return []
  return Array.from({ length: HERD }, (_, place) => ({ place, since: now - FIRST - place * BETWEEN }))
    .filter(({ since }) => since >= 0)
    .map(({ place, since }) => ({ id: 100 + place, process: place % PROCESSES, ...stateOf(mode, now, place, since) }))
}

function stateOf(mode: Mode, now: number, place: number, since: number): { doing: Doing; answered: boolean } {
  if (place === 0) return { doing: 'leads', answered: now >= COMMIT }
  if (mode === 'stale') return { doing: 'got-stale', answered: since > 150 }
  return now < COMMIT + WAKE ? { doing: 'waits', answered: false } : { doing: 'woken', answered: true }
}
