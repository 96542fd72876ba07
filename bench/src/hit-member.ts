// The process of one contender of hit.ts: nothing else is in its memory, and its call sites see one kind of cache only.
import type { Open } from './contenders/contender.ts'
import { floors, ours } from './contenders/hits.ts'
import { peers } from './contenders/peers.ts'
import { serveAsMember } from './run/member.ts'

const COUNTED_CALLS = 300

const [name = '', redis = '', keyCount = '100'] = process.argv.slice(2)
const keys = Array.from({ length: Number(keyCount) }, (_, index) => `product:${index}`)
const values = new Map(keys.map((key, index) => [key, { id: index, name: `product ${index}`, price: index * 3 }]))

const open: Open = floors[name] ?? ours[name] ?? (await peers[name]?.())?.open ?? unknown()
const setting = { ttl: 3_600_000, stale: 0, namespace: `bench-${process.pid}` }
let loads = 0
const cache = await open({
  ...setting,
  load: async (key) => {
    loads += 1
    return values.get(key)
  },
  redis: name.startsWith('near') ? redis : undefined,
})

let next = 0
async function hits(calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) {
    next = next + 1 === keys.length ? 0 : next + 1
    await cache.get(keys[next] ?? '')
  }
}

let callsAMs = 0

serveAsMember({
  async warmUp(duration: number) {
    await hits(keys.length)
    const began = performance.now()
    let calls = 0
    for (let took = 0; took < duration; took = performance.now() - began) {
      await hits(5000)
      calls += 5000
    }
    callsAMs = calls / (performance.now() - began)
  },
  async measure(duration: number) {
    const calls = Math.ceil(callsAMs * duration)
    const loadsBefore = loads
    const cpu = process.cpuUsage()
    const began = performance.now()
    await hits(calls)
    const took = performance.now() - began
    const { user, system } = process.cpuUsage(cpu)
    if (loads > loadsBefore) throw new Error('what was measured as a hit was a load')
    return { ns: (took * 1e6) / calls, cpu: ((user + system) * 1000) / calls, bytes: await allocated() }
  },
})

/** Bytes that a hit leaves behind, from so few of them that nothing is collected meanwhile. */
async function allocated(): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  await hits(COUNTED_CALLS)
  return (process.memoryUsage().heapUsed - before) / COUNTED_CALLS
}

function unknown(): never {
  throw new Error(`there is no contender called ${name}`)
}
