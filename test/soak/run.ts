// Every feature at once, over a Redis that is paused, killed and back, for as long as is asked: does the heap stay flat, and is everything
// empty when it is quiet again? `npm test -- soak --seconds 300`
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type Cache, createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { inside } from './inside.ts'
import { slopeOf } from './slope.ts'
import { Workload } from './workload.ts'

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string', default: '240' },
    // What a window may add, in percent. A run of seconds still compiles its own code.
    slope: { type: 'string', default: '1' },
  },
})
const WINDOWS = 5
/** The first cycles fill caches and compile code. */
const WARM_UP = 2
const CACHES = 3
/** Loads that nobody waits for end at the latest by their own time-out, leases by theirs, ms. */
const QUIET = 1500
/**
 * What stays whatever is cleared: the numbers of tags, which say what a read still to come may be worth, the guard and the clock of each node, what is
 * remembered for people, the one place that answers other processes' questions, and the empty slots of keys that loaded lately.
 */
const NEVER_CLEARED =
  /#known|#numbers|tags\.#others|#guards\.#(?:younger|older)$|#diagnostics\.|questions\.#answerers$|clocks\.#offsets$|(?:#places|#waiters|#loads\.running)\.#slots$|#loads\.alone$/
/** What is kept up to a bound. */
const KEPT = new RegExp(`#nodes|#younger|#older|#slots|${NEVER_CLEARED.source}`)
const cycle = (Number(given.seconds) * 1000) / (WINDOWS + WARM_UP)
// The source map of each file that an error's stack names would be kept, from the first such error on.
process.setSourceMapsEnabled(false)
const { gc } = globalThis
if (gc === undefined) throw new Error('node --expose-gc is needed')

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

let server: RedisServer = await startRedis({ own: true, args: ['--maxmemory', '512mb'] })
const namespace = `soak-${randomUUID()}`
const caches: readonly Cache[] = Array.from({ length: CACHES }, () =>
  createCache({
    store: redisStore({ url: server.url, namespace }),
    near: { maxEntries: 500, maxBytes: '8mb', maxAge: '1s' },
    outage: { maxEntries: 200 },
    ttl: '300ms',
    staleWhileRevalidate: '2s',
    staleIfError: '5s',
    earlyRefresh: { beta: 1 },
    jitter: 0.1,
    lease: { duration: '500ms' },
    loadTimeout: '400ms',
    failureCooldown: { min: 10, max: '200ms' },
    waitTimeout: '2s',
    maxLoads: 40,
  }),
)
const work = new Workload(caches)

/** One window's worth of trouble, the same in each. */
async function run(): Promise<void> {
  work.start()
  await rest(cycle * 0.4)
  server.pause()
  await rest(cycle * 0.1)
  server.resume()
  await rest(cycle * 0.2)
  await server.kill()
  await rest(cycle * 0.1)
  server = await startRedis({ port: server.port, args: ['--maxmemory', '512mb'] })
  await rest(cycle * 0.2)
  await work.stop()
}

async function clear(): Promise<void> {
  for (const cache of caches) {
    for (let tries = 0; tries < 200; tries += 1) {
      const cleared = await cache.clear().then(
        () => true,
        () => false,
      )
      if (cleared) break
      await rest(50)
    }
  }
}

/** Bytes in use, of what a cache keeps nothing any more. */
async function heap(): Promise<number> {
  await clear()
  for (let times = 0; times < 4; times += 1) {
    await rest(100)
    gc?.()
  }
  return process.memoryUsage().heapUsed
}

/** What the caches hold, by path; who listens is not counted. */
function held(spared: RegExp): string[] {
  return caches.flatMap((cache, index) =>
    [...inside(cache)]
      .filter(([path, count]) => count > 0 && !path.endsWith('listeners') && !spared.test(path))
      .map(([path, count]) => `cache ${index}: ${path} holds ${count}`),
  )
}

/** Work without trouble, then quiet. Returns what was under way in the midst of it, what still was in the end, and what a clear left. */
async function calm(): Promise<Record<'midst' | 'end' | 'cleared', string[]>> {
  work.start()
  await rest(1000)
  const midst = held(KEPT)
  await work.stop()
  await rest(QUIET)
  const end = held(KEPT)
  await clear()
  return { midst, end, cleared: held(NEVER_CLEARED) }
}

for (let cycles = 0; cycles < WARM_UP; cycles += 1) await run()
await heap()
const heaps: number[] = []
for (let window = 1; window <= WINDOWS; window += 1) {
  const { calls, loads } = work
  await run()
  await rest(QUIET)
  heaps.push(await heap())
  const megabytes = ((heaps.at(-1) ?? 0) / 2 ** 20).toFixed(2)
  console.log(`window ${window}: ${work.calls - calls} calls, ${work.loads - loads} loads, heap ${megabytes} MiB`)
}

const slope = slopeOf(heaps) * 100
const { midst, end, cleared } = await calm()
const left = [...end.map((one) => `${one} when it is quiet`), ...cleared.map((one) => `${one} after a clear`)]
if (midst.length === 0) left.push('Nothing was seen under way in the midst of the work: this look sees nothing')
console.log(`${work.calls} calls, ${work.loads} loads; rejected: ${JSON.stringify(work.errors)}`)
console.log(`heap: ${slope.toFixed(2)} % a window, at most ${given.slope} %`)
console.log(
  left.length === 0
    ? `nothing is under way any more (of ${midst.length} Maps and Sets that were in use), and nothing is left after a clear`
    : left.join('\n'),
)
await Promise.all(caches.map((cache) => cache.close()))
await server.stop()
process.exitCode = slope <= Number(given.slope) && left.length === 0 ? 0 : 1
