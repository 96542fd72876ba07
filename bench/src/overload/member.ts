// One process of the fleet: opens a cache before the sources, and is called as a server is.
import { isCattlegridError } from '@cattlegrid/core'
import { setTimeout as sleep } from 'node:timers/promises'
import { at } from '../run/figure.ts'
import { serveAsMember } from '../run/member.ts'
import { type Calls, type End, PATIENCE } from './calls.ts'
import { contenders, type FleetCache, type FleetSetting } from './rows.ts'
import { isOfSecond } from './scenes.ts'
import { type SourceClient, sourceClient } from './source-client.ts'
import { arrivals, type Traffic } from './traffic.ts'

export interface Opening {
  readonly row: string
  readonly redis: string
  readonly namespace: string
  readonly ttl: number
  /** Where the sources listen. The second one has every tenth key. */
  readonly ports: readonly number[]
}

export interface Run extends Traffic {
  /** When it begins, by the clock of the machine, ms since 1970. */
  readonly begin: number
  /** ms */
  readonly duration: number
}

const TEXT = 'x'.repeat(100)
/** How many keys are primed at a time. */
const PRIMED_AT_ONCE = 16
/** After the end of a run, calls that came late in it have this time to end well, ms. */
const GRACE = 2500

let cache: FleetCache | undefined
let reopen: (() => Promise<FleetCache>) | undefined
let prime: (() => Promise<FleetCache>) | undefined
let priming = false

function opened(): FleetCache {
  if (cache === undefined) throw new Error('no cache is open')
  return cache
}

const now = (): number => performance.timeOrigin + performance.now()
const keyOf = (rank: number): string => `product:${rank}`

function loaderOf(sources: readonly SourceClient[]): FleetSetting['load'] {
  return async (key, signal) => {
    const rank = Number(key.slice(key.indexOf(':') + 1))
    if (!priming) await sources[isOfSecond(rank) ? sources.length - 1 : 0]?.load(rank, signal)
    return { key, text: TEXT }
  }
}

/** An error of the cache is a refusal, unless it tells of a load that failed. */
function endOf(error: unknown): End {
  const ofLoad =
    isCattlegridError(error, 'CATTLEGRID_LOAD_FAILED') || isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT')
  return isCattlegridError(error) && !ofLoad ? 'refused' : 'failed'
}

/** A call as a client sees it: it ends with an answer, or when the client has waited long enough. */
async function call(key: string): Promise<End> {
  const client = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const gone = new Promise<End>((resolve) => {
    timer = setTimeout(() => {
      resolve('gone')
      client.abort()
    }, PATIENCE)
  })
  const answered = opened()
    .get(key, client.signal)
    .then((): End => 'value', endOf)
  return await Promise.race([answered, gone]).finally(() => clearTimeout(timer))
}

// Some write behind their callers and find a connection closed: no reason to end the process.
process.on('unhandledRejection', () => undefined)

serveAsMember({
  async open({ row, redis, namespace, ttl, ports }: Opening) {
    const contender = contenders[row]
    if (contender === undefined) throw new Error(`there is no contender called ${row}`)
    const sources = await Promise.all(ports.map(sourceClient))
    const setting: FleetSetting = { load: loaderOf(sources), ttl, stale: 0, redis, namespace }
    const open = await contender.open()
    cache = await open(setting)
    if (contender.local === true) reopen = () => open(setting)
    if (contender.prime !== undefined) prime = async () => await (contender.prime as typeof open)(setting)
  },
  /** Fills the cache with keys, without the source. */
  async prime(ranks: readonly number[]) {
    priming = true
    const through = (await prime?.()) ?? opened()
    const left = ranks[Symbol.iterator]()
    const { signal } = new AbortController()
    const fill = async (): Promise<void> => {
      for (const rank of left) await through.get(keyOf(rank), signal)
    }
    await Promise.all(Array.from({ length: PRIMED_AT_ONCE }, fill))
    if (through !== cache) await through.close()
    priming = false
  },
  /** What a flush does to this process; that of Redis is the operator's. */
  async flush() {
    cache = (await reopen?.()) ?? cache
  },
  async run({ begin, duration, ...traffic }: Run): Promise<Calls> {
    const calls: Calls = { at: [], took: [], end: [], rank: [] }
    for (const { at: due, rank } of arrivals(traffic)) {
      if (due >= duration) break
      // A timer for each call would cost more than a call.
      while (now() < begin + due) await sleep(1)
      const place = calls.at.push(due) - 1
      calls.took.push(Number.NaN)
      calls.end.push('gone')
      calls.rank.push(rank)
      void call(keyOf(rank)).then((end) => {
        calls.took[place] = now() - begin - due
        calls.end[place] = end
      })
    }
    await sleep(begin + duration + GRACE - now())
    return structuredClone(calls)
  },
  /** One call at a time, each of which loads, from a source that answers at once: µs of CPU and the middle time of one. */
  async lone(count: number) {
    priming = true
    const { signal } = new AbortController()
    const times: number[] = []
    const cpu = process.cpuUsage()
    for (let one = 0; one < count; one += 1) {
      const began = performance.now()
      await opened().get(`lone-${process.pid}-${times.length}:${one}`, signal)
      times.push((performance.now() - began) * 1000)
    }
    const { user, system } = process.cpuUsage(cpu)
    return {
      cpu: (user + system) / count,
      p50: at(
        times.toSorted((a, b) => a - b),
        0.5,
      ),
    }
  },
})
