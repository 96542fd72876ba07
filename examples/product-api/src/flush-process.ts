// One process of the fleets that "Flush everything" starts. It calls its own cache, as clients would, and loads from its parent.
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { onShutdown } from './shutdown.ts'
import { connectRedis } from './strategies/redis-client.ts'

/** What has come of the calls since the last message. */
export interface Calls {
  /** Calls that were answered, or were not within 2 s. */
  readonly ended: number
  /** Calls that were answered within 2 s. */
  readonly good: number
}

export type FlushMessage =
  | { readonly kind: 'ready'; readonly url: string }
  /** Asks the source; the parent sends the number back when the load is done. */
  | { readonly kind: 'load'; readonly id: number }
  | ({ readonly kind: 'calls' } & Calls)
  | { readonly kind: 'limit'; readonly limit: number }

const KEYS = 600
const CALLS_A_SECOND = 100
const CALL_MS = 10
const GOOD_MS = 2_000
const REPORT_MS = 100

const { REDIS_URL = '', NAMESPACE = 'flush' } = process.env
const client = await connectRedis(REDIS_URL)
const cache = createCache({
  store: redisStore({ client, namespace: NAMESPACE }),
  ttl: '1m',
  // Longer than the default: in the demo Redis shares the machine with all that is shown.
  storeTimeout: '1s',
  ...(process.argv[2] === 'unlimited' && { maxLoads: false }),
})

const send = (message: FlushMessage): void => void process.send?.(message)
const loads = new Map<number, () => void>()
let asked = 0
const load = async (): Promise<string> => {
  const id = (asked += 1)
  await new Promise<void>((resolve) => {
    loads.set(id, resolve)
    send({ kind: 'load', id })
  })
  return 'a product'
}
process.on('message', (id: number) => {
  loads.get(id)?.()
  loads.delete(id)
})
cache.on('load-limit', ({ limit }) => send({ kind: 'limit', limit }))

let [ended, good] = [0, 0]
const call = async (key: string): Promise<void> => {
  try {
    await cache.getOrSet(key, load, { signal: AbortSignal.timeout(GOOD_MS) })
    good += 1
  } catch {
    // Its client has no answer in time.
  } finally {
    ended += 1
  }
}

/** About as Zipf: the key of rank r is asked for in proportion to 1 / r. */
const nextKey = (): string => `product:${Math.floor((KEYS + 1) ** Math.random())}`

const keys = Array.from({ length: KEYS }, (_, place) => `product:${place + 1}`)
await cache.setMany(new Map(keys.map((key) => [key, 'a product'])))
const began = performance.now()
let begun = 0
// A late timer makes up for its delay: calls do not wait for answers.
const calling = setInterval(() => {
  for (; begun < ((performance.now() - began) / 1_000) * CALLS_A_SECOND; begun += 1) void call(nextKey())
}, CALL_MS)
const reporting = setInterval(() => {
  send({ kind: 'calls', ended, good })
  ended = 0
  good = 0
}, REPORT_MS)

onShutdown(async () => {
  clearInterval(calling)
  clearInterval(reporting)
  await cache.close({ drain: 0 })
  client.destroy()
})
send({ kind: 'ready', url: '' })
