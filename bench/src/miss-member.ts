// The process of one contender of miss.ts: nothing else is in its memory.
import { contenders } from './contenders/misses.ts'
import { serveAsMember } from './run/member.ts'

const [name = '', redis] = process.argv.slice(2)
const value = { id: 1, name: 'product 1', price: 3 }
const atOnce = async (): Promise<unknown> => value
/** Long enough that every caller of a herd comes before its end. */
const inNextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve, value))

const open = await contenders[name]?.()
if (open === undefined) throw new Error(`there is no contender called ${name}`)
let load = atOnce
let loads = 0
const cache = await open({
  load: () => {
    loads += 1
    return load()
  },
  ttl: 3_600_000,
  stale: 0,
  redis,
  namespace: `bench-${process.pid}`,
})
let keys = 0

/** Keys that no call has named before, so many of them at once. */
async function misses(calls: number, together: number): Promise<void> {
  load = atOnce
  for (let call = 0; call < calls; call += together) {
    const running: Promise<unknown>[] = []
    for (let one = 0; one < together; one += 1) running.push(cache.get(`product:${(keys += 1)}`))
    await Promise.all(running)
  }
}

async function herd(callers: number): Promise<void> {
  load = inNextTurn
  const key = `product:${(keys += 1)}`
  await Promise.all(Array.from({ length: callers }, () => cache.get(key)))
}

/** µs of this process's CPU and of time, for each of `calls`; throws unless so many loads ran. */
async function cost(calls: number, expected: number, work: () => Promise<void>): Promise<Record<string, number>> {
  const loadsBefore = loads
  const cpu = process.cpuUsage()
  const began = performance.now()
  await work()
  const took = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  if (loads - loadsBefore !== expected) throw new Error(`${loads - loadsBefore} loads instead of ${expected}`)
  return { us: (took * 1000) / calls, cpu: (user + system) / calls }
}

serveAsMember({
  miss: (calls: number, together: number) => cost(calls, calls, () => misses(calls, together)),
  herd: (herds: number, callers: number) =>
    cost(herds * callers, herds, async () => {
      for (let count = 0; count < herds; count += 1) await herd(callers)
    }),
})
