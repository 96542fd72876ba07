// The process of one contender of redis.ts: hits in Redis, from as many callers at once as it is told.
import type { Open, Opened } from './contenders/contender.ts'
import { peers } from './contenders/peers.ts'
import { floors, ours } from './contenders/redis-hits.ts'
import { serveAsMember } from './run/member.ts'

const [name = '', redis = '', namespace = `bench-${process.pid}`] = process.argv.slice(2)
const text = 'x'.repeat(960)
const open: Open = floors[name] ?? ours[name] ?? (await peers[name]?.())?.open ?? unknown()

let loads = 0
async function start(url: string): Promise<Opened> {
  return await open({
    load: async (key) => {
      loads += 1
      return { key, text }
    },
    ttl: 3_600_000,
    stale: 0,
    redis: url,
    namespace,
  })
}
let cache = await start(redis)

const keyOf = (index: number): string => `product:${index}`

/** A round goes on with the keys at which the one before it ended. */
let turned = 0

/** Each caller asks in turn for keys that no other asks for, so that nothing is joined. */
async function callers(count: number, duration: number, keysEach: number): Promise<number> {
  const end = performance.now() + duration
  let hits = 0
  const begun = turned
  const caller = async (index: number): Promise<void> => {
    const keys = Array.from({ length: keysEach }, (_, place) => keyOf(index * keysEach + place))
    let turn = begun
    for (; performance.now() < end; turn += 1) {
      await cache.get(keys[turn % keysEach] ?? '')
      hits += 1
    }
    turned = Math.max(turned, turn)
  }
  await Promise.all(Array.from({ length: count }, (_, index) => caller(index)))
  return hits
}

/** As many keys at a time are filled. */
const FILLED_AT_ONCE = 64

serveAsMember({
  async fill(keys: number) {
    for (let index = 0; index < keys; index += FILLED_AT_ONCE)
      await Promise.all(Array.from({ length: FILLED_AT_ONCE }, (_, place) => cache.get(keyOf(index + place))))
    // Whoever writes behind its callers has written by now.
    await new Promise((resolve) => setTimeout(resolve, 100))
  },
  async measure(count: number, duration: number, keysEach = 2) {
    const cpu = process.cpuUsage()
    const began = performance.now()
    const hits = await callers(count, duration, keysEach)
    const took = performance.now() - began
    const { user, system } = process.cpuUsage(cpu)
    return { hits, rate: (hits / took) * 1000, us: (took * 1000) / hits, cpu: (user + system) / hits }
  },
  async inTurn(hits: number) {
    for (let hit = 0; hit < hits; hit += 1) await cache.get(keyOf(hit % 2))
  },
  async together(count: number) {
    await Promise.all(Array.from({ length: count }, () => cache.get(keyOf(0))))
  },
  /** From here on through another door. */
  async reopen(url: string) {
    await cache.close()
    cache = await start(url)
    await cache.get(keyOf(0))
    await cache.get(keyOf(1))
    // Its other connections have said what they had to by then.
    await new Promise((resolve) => setTimeout(resolve, 100))
  },
  loads: () => loads,
})

function unknown(): never {
  throw new Error(`there is no contender called ${name}`)
}
