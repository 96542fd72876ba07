// One of the processes that share a cache: fills it, and asks for its keys at a steady rate.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, type Load } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { connected } from './contenders/node-redis.ts'
import { serveAsMember } from './run/member.ts'

/** What a purge is measured with. */
export interface Purge {
  readonly namespace: string
  readonly keys: number
  readonly budget: { readonly perSecond: number; readonly atOnce: number } | undefined
}

/** A load of the source, in ms of the day. */
export interface SourceLoad {
  readonly key: string
  readonly background: boolean
  readonly begin: number
  readonly end: number
}

/** What one process has seen. */
export interface Seen {
  /** The time from the moment at which each call was due to its answer, ms; of hits only. `early`: those before the purge. */
  readonly early: readonly number[]
  readonly hits: readonly number[]
  readonly loads: readonly SourceLoad[]
}

const [redis = ''] = process.argv.slice(2)
const TAG = 'catalogue'
/** The time that the source takes for a load, ms. */
const LOAD_TIME = 40
/** So many writes at once fill the cache. */
const WRITERS = 100

const client = await connected(redis)
const now = (): number => performance.timeOrigin + performance.now()
const keyOf = (index: number): string => `product:${index}`

function open({ namespace, budget }: Purge) {
  return createCache({
    store: redisStore({ client, namespace }),
    ttl: '1h',
    staleWhileRevalidate: '1h',
    storeTimeout: '5s',
    refreshBudget: budget,
  })
}

let cache = open({ namespace: 'none', keys: 0, budget: undefined })
let keys = 0
let loads: SourceLoad[] = []

async function load({ key, background }: Pick<Load, 'key' | 'background'>): Promise<object> {
  const begin = now()
  await sleep(key.startsWith('warm') ? 1 : LOAD_TIME)
  loads.push({ key, background, begin, end: now() })
  return { key, price: 129, name: 'x'.repeat(200) }
}

serveAsMember({
  async open(purge: Purge) {
    await cache.close()
    cache = open(purge)
    keys = purge.keys
    await cache.ready()
  },
  /** Writes every `step`th key from `first` on. */
  async fill(first: number, step: number) {
    let next = first
    const write = async (): Promise<void> => {
      while (next < keys) {
        const key = keyOf(next)
        next += step
        await cache.set(key, { key, price: 129, name: 'x'.repeat(200) }, { tags: [TAG] })
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, write))
  },
  /** Refreshes other entries first, as a process has done that runs for a while: else the compiler's work would be measured. */
  async warm(refreshes: number) {
    const other = { tags: [`warm-${process.pid}`] }
    for (let index = 0; index < refreshes; index += 1) {
      const key = `warm:${process.pid}:${index % 50}`
      if (index % 50 === 0) await cache.expireTags(other.tags)
      const { refresh } = await cache.lookup(key, load, other)
      await refresh
    }
  },
  /** Calls at `rate` a second, for keys at random. The purge is called after `before` ms. */
  async ask(rate: number, duration: number, before: number): Promise<Seen> {
    loads = []
    const early: number[] = []
    const hits: number[] = []
    const calls: Promise<void>[] = []
    const begin = performance.now()
    const call = async (due: number): Promise<void> => {
      const { status } = await cache.lookup(keyOf(Math.floor(Math.random() * keys)), load, { tags: [TAG] })
      if (status !== 'loaded') (due < begin + before ? early : hits).push(performance.now() - due)
    }
    for (let sent = 0; sent < (rate * duration) / 1000; await sleep(1)) {
      for (; begin + (sent * 1000) / rate <= performance.now(); sent += 1)
        calls.push(call(begin + (sent * 1000) / rate))
    }
    await Promise.all(calls)
    await sleep(3 * LOAD_TIME)
    return { early, hits, loads }
  },
  async purge(how: 'expire' | 'invalidate') {
    await (how === 'expire' ? cache.expireTags([TAG]) : cache.invalidateTags([TAG]))
  },
})
