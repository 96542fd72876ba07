import type { Fleet } from './fleet.ts'
import type { Floor } from './floors.ts'
import type { Game } from './game.ts'

/** One way in which callers come, and what is told of it. */
export interface Scenario {
  readonly id: string
  readonly title: string
  /** The process's own memory instead of Redis. */
  readonly local?: boolean
  readonly processes?: number
  readonly game: Omit<Game, 'namespace' | 'redis'>
  readonly ours?: readonly string[]
  readonly floors?: readonly Floor[]
  readonly columns: readonly (keyof typeof COLUMNS)[]
  readonly mostRounds: number
  readonly play: (fleet: Fleet, smoke: boolean) => Promise<Record<string, number>>
}

export const COLUMNS = {
  loads: { title: 'loads', digits: 0 },
  perExpiry: { title: 'loads per expiry', digits: 2 },
  p50: { title: 'p50, ms', digits: 1 },
  p99: { title: 'p99, ms', digits: 1 },
  waited: { title: 'had to wait', digits: 3 },
  commands: { title: 'commands a process', digits: 1 },
  perCall: { title: 'commands a call', digits: 2 },
  failed: { title: 'errors', digits: 0 },
  unanswered: { title: 'no answer in 6 s', digits: 0 },
} as const

const TOLD = 'one flight, told by a push'
const WOKEN = 'one flight, woken by a push'
const BURST = ['loads', 'p50', 'p99', 'commands'] as const
const HOUR = 3_600_000
const PATIENCE = 6000

let keys = 0
const newKey = (): string => `key-${(keys += 1)}`

function burst(callers: number): Scenario['play'] {
  return (fleet) => fleet.burst({ keys: [newKey()], callers, patience: PATIENCE })
}

/** 20 callers in each process, each of which asks again `pause` ms after its answer. */
function stream(pause: number, loadTime: number): Scenario['play'] {
  return async (fleet, smoke) => {
    const key = newKey()
    await fleet.members[0]?.ask('prime', key)
    return await fleet.stream({ key, callers: 20, pause, duration: smoke ? 300 : 4000 }, loadTime)
  }
}

const sleep = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time))

export const scenarios: readonly Scenario[] = [
  {
    id: 'one-process',
    floors: [TOLD],
    title: 'A cold key, 1 process, 1,000 callers, 200 ms loader',
    local: true,
    processes: 1,
    game: { loadTime: 200, ttl: HOUR, stale: 0 },
    columns: ['loads', 'p50', 'p99'],
    mostRounds: 7,
    play: burst(1000),
  },
  {
    id: 'cold',
    floors: [TOLD, WOKEN],
    title: 'A cold key, 8 processes × 200 callers, 200 ms loader',
    game: { loadTime: 200, ttl: HOUR, stale: 0 },
    columns: BURST,
    mostRounds: 7,
    play: burst(200),
  },
  {
    id: 'stale',
    title: 'An expired key with a stale value, 8 processes × 200 callers, 200 ms loader',
    game: { loadTime: 200, ttl: 1000, stale: 60_000 },
    columns: BURST,
    mostRounds: 5,
    async play(fleet) {
      const key = newKey()
      await fleet.members[0]?.ask('prime', key)
      await sleep(1100)
      return await fleet.burst({ keys: [key], callers: 200, patience: PATIENCE })
    },
  },
  {
    id: 'long',
    title: 'A cold key, 8 processes × 200 callers, 3 s loader, leases of 1 s',
    game: { loadTime: 3000, ttl: HOUR, stale: 0 },
    ours: ['cattlegrid, short lease'],
    columns: BURST,
    mostRounds: 3,
    play: burst(200),
  },
  {
    id: 'many',
    title: '100 cold keys, 6 processes, 6,000 callers, 200 ms loader',
    processes: 6,
    game: { loadTime: 200, ttl: HOUR, stale: 0 },
    columns: BURST,
    mostRounds: 5,
    play: (fleet) => fleet.burst({ keys: Array.from({ length: 100 }, newKey), callers: 10, patience: PATIENCE }),
  },
  {
    id: 'sustained-stale',
    title: 'A hot key, 8 processes × 20 callers, ttl 500 ms, 200 ms loader, stale allowed',
    game: { loadTime: 200, ttl: 500, stale: 60_000 },
    columns: ['perExpiry', 'p50', 'p99', 'waited'],
    mostRounds: 3,
    play: stream(10, 200),
  },
  {
    id: 'sustained',
    title: 'The same, nothing stale allowed',
    game: { loadTime: 200, ttl: 500, stale: 0 },
    ours: ['cattlegrid', 'cattlegrid, early refresh'],
    columns: ['perExpiry', 'p50', 'p99', 'waited'],
    mostRounds: 3,
    play: stream(10, 200),
  },
  {
    id: 'paced',
    floors: ['one read, refreshed under a lock'],
    title: 'A hot key, 8 processes, 300 callers a second together, ttl 1 s, 50 ms loader, stale allowed',
    game: { loadTime: 50, ttl: 1000, stale: 60_000 },
    columns: ['perExpiry', 'p50', 'p99', 'perCall'],
    mostRounds: 2,
    play: stream(533, 50),
  },
  {
    id: 'failing',
    floors: [TOLD, WOKEN],
    title: 'A cold key whose loader fails after 200 ms, 8 processes × 200 callers',
    game: { loadTime: 200, fails: true, ttl: HOUR, stale: 0 },
    columns: ['loads', 'p50', 'p99', 'failed', 'unanswered'],
    mostRounds: 3,
    play: burst(200),
  },
]
