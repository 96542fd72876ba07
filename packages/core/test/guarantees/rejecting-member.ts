// A process that uses caches on stores of which one step rejects or throws, and prints the cases that left a rejection unhandled.
import { createManualRuntime } from '@cattlegrid/testkit'
import { createCache, memoryStore, type Store } from '../../src/index.ts'
import { Origin } from '../support/fleet.ts'

const broken = new Error('not written with care')

const steps = [
  'read',
  'acquire',
  'renew',
  'commit',
  'release',
  'put',
  'invalidate',
  'invalidateTags',
  'tagNumbers',
  'permitRefresh',
  'endRefresh',
  'clear',
  'inspect',
  'ping',
  'close',
] as const

const faults = {
  rejects: (): Promise<never> => Promise.reject(broken),
  throws: (): never => {
    throw broken
  },
}

/** Uses every step of a store in which some go wrong, for callers and in the background. */
async function useEveryStep(wrong: Partial<Store>): Promise<void> {
  const runtime = createManualRuntime()
  const store = Object.assign(memoryStore({ runtime }), { peek: () => undefined, ...wrong })
  const cache = createCache({ store, runtime, ttl: '1s', staleWhileRevalidate: '1h', refreshBudget: { atOnce: 10 } })
  const calls: Promise<unknown>[] = []
  const call = (promise: Promise<unknown>): void => void calls.push(promise.catch(() => undefined))
  call(cache.set('stale', 'old', { tags: ['t'] }))
  await runtime.advance(1500)
  const [slow, own] = [new Origin(), new Origin()]
  call(cache.getOrSet('slow', slow.loader, { lease: { duration: '1s' }, loadTimeout: '1m' }))
  call(cache.getOrSet('own', own.loader))
  call(cache.getOrSet('stale', () => 'new'))
  call(cache.getOrSet('loaded', () => 'value', { tags: ['t'] }))
  call(cache.getOrSet('failed', () => Promise.reject(broken)))
  await runtime.advance(100)
  for (const { load } of own.loads) load.uncacheable({ share: false })
  await runtime.advance(20_000)
  for (const { resolve } of [...slow.loads, ...own.loads]) resolve('late')
  await runtime.advance(100)
  call(cache.refresh('stale', () => 'newer'))
  call(cache.inspect('stale'))
  call(cache.delete('stale'))
  call(cache.expire('stale'))
  call(cache.invalidateTags(['t']))
  call(cache.clear())
  call(cache.ready({ timeout: 0 }))
  await runtime.advance(5000)
  await Promise.all(calls)
  call(cache.close({ drain: 0 }))
  await runtime.advance(1000)
  await Promise.all(calls)
}

const unhandled: string[] = []
let running = ''
process.on('unhandledRejection', () => unhandled.push(running))
for (const shared of [true, false])
  for (const step of steps)
    for (const [fault, wrong] of Object.entries(faults)) {
      running = `${step} ${fault}, ${shared ? 'shared' : 'not shared'}`
      await useEveryStep({ shared, [step]: wrong })
      await new Promise((resolve) => setImmediate(resolve))
    }
process.stdout.write(JSON.stringify([...new Set(unhandled)]))
process.exit()
