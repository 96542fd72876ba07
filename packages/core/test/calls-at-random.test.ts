import { getEventListeners } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import type { Cache, CacheOptions, CallOptions, Load, ManyLoad } from '@cattlegrid/core'
import * as fc from 'fast-check'
import { createFleet, type Fleet } from './fleet.ts'

/** One call, and the calls that its loader makes if it runs. */
interface Plan {
  readonly verb: 'getOrSet' | 'lookup' | 'await refresh' | 'getOrSetMany' | 'refresh'
  /** Added to the greatest key around the call. */
  readonly steps: readonly number[]
  readonly strict: boolean
  readonly signal: number | undefined
  readonly took: number
  readonly ending: 'value' | 'unkept' | 'uncacheable' | 'unshareable'
  readonly inner: readonly Plan[]
}

interface Outer extends Plan {
  readonly at: number
  readonly process: 0 | 1
}

interface Scenario {
  readonly maxLoads: number
  readonly maxWaiters: number
  readonly cyclic: boolean
  readonly swr: boolean
  readonly calls: readonly Outer[]
  readonly aborts: readonly number[]
  /** The times that the store's answers take, in turn, ms. */
  readonly delays: readonly number[]
  readonly deletions: readonly { readonly at: number; readonly key: number }[]
}

const KEYS = 6
const SIGNALS = 2
/** Everything that a scenario does by itself ends within this time, ms. */
const LONG = 100_000

const plan = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    verb: fc.constantFrom<Plan['verb'][]>('getOrSet', 'lookup', 'await refresh', 'getOrSetMany', 'refresh'),
    steps: fc.uniqueArray(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 }),
    strict: fc.boolean(),
    signal: fc.option(fc.nat({ max: SIGNALS - 1 }), { nil: undefined, freq: 4 }),
    took: fc.nat({ max: 20 }),
    ending: fc.constantFrom<Plan['ending'][]>('value', 'value', 'value', 'unkept', 'uncacheable', 'unshareable'),
    inner: depth === 0 ? fc.constant([]) : fc.array(plan(depth - 1), { maxLength: 2 }),
  })

const scenario: fc.Arbitrary<Scenario> = fc.record({
  maxLoads: fc.constantFrom(1, 1, 2, 1000),
  maxWaiters: fc.constantFrom(4, 8, 10_000),
  cyclic: fc.boolean(),
  swr: fc.boolean(),
  calls: fc.array(
    fc
      .tuple(plan(2), fc.nat({ max: 30 }), fc.constantFrom(0 as const, 1 as const))
      .map(([call, at, process]) => ({ ...call, at, process })),
    { minLength: 1, maxLength: 8 },
  ),
  aborts: fc.array(fc.nat({ max: 60 }), { minLength: SIGNALS, maxLength: SIGNALS }),
  delays: fc.array(fc.nat({ max: 8 }), { minLength: 1, maxLength: 12 }),
  deletions: fc.array(fc.record({ at: fc.nat({ max: 40 }), key: fc.nat({ max: KEYS - 1 }) }), { maxLength: 2 }),
})

/** Runs a scenario, and notes what must not happen. */
class Play {
  readonly faults: string[] = []
  readonly #scenario: Scenario
  readonly #fleet: Fleet
  readonly #signals = Array.from({ length: SIGNALS }, () => new AbortController())
  #unsettled = 0
  #running = 0

  constructor(given: Scenario) {
    this.#scenario = given
    const { maxLoads, maxWaiters, swr } = given
    const waits: CacheOptions = { waitTimeout: '1h', loadTimeout: '1h', softTimeout: false }
    const limits: CacheOptions = { maxLoads, maxWaiters, maxWaitersPerKey: maxWaiters }
    this.#fleet = createFleet({ ...waits, ...limits, ttl: '20ms', ...(swr ? { staleWhileRevalidate: '50ms' } : {}) })
    this.#slowDown()
  }

  async run(): Promise<void> {
    const { runtime, caches } = this.#fleet
    const { calls, aborts, deletions, cyclic } = this.#scenario
    // Two processes cannot see a cycle that they close together.
    for (const call of calls) runtime.schedule(() => this.#outer(caches[cyclic ? 0 : call.process], call), call.at)
    for (const [index, at] of aborts.entries())
      runtime.schedule(() => this.#signals[index]?.abort(new Error('left')), at)
    for (const { at, key } of deletions) runtime.schedule(() => void caches[2].delete(`k${key}`), at)
    await runtime.advance(LONG)
    if (this.#unsettled > 0) this.faults.push(`${this.#unsettled} calls hang`)
    await this.#expectNothingLeft()
  }

  /** Every answer of the store is decided when it is asked, and arrives later. */
  #slowDown(): void {
    const { store } = this.#fleet
    const { delays } = this.#scenario
    let answers = 0
    for (const step of ['read', 'acquire', 'commit', 'release'] as const) {
      const real = store[step].bind(store) as (...args: readonly unknown[]) => Promise<unknown>
      const slowed = async (...args: readonly unknown[]): Promise<unknown> => {
        const answer = await real(...args)
        const delay = delays[answers++ % delays.length] ?? 0
        if (delay > 0) await this.#pause(delay)
        return answer
      }
      Object.assign(store, { [step]: slowed })
    }
  }

  async #expectNothingLeft(): Promise<void> {
    const { caches, runtime } = this.#fleet
    for (const cache of caches) {
      // As many at once as there are permits: one that was not given back is missing now.
      let atOnce = 0
      const loader = async (): Promise<number> => {
        atOnce += 1
        await this.#pause(500)
        return atOnce
      }
      const ask = (_: unknown, index: number): Promise<number> => cache.getOrSet(`last ${index}`, loader)
      const count = Math.min(this.#scenario.maxLoads, 4)
      const asked = Promise.all(Array.from({ length: count }, ask)).catch((error: unknown) =>
        this.faults.push(`afterwards ${String(error)}`),
      )
      await runtime.advance(400)
      if (atOnce !== count) this.faults.push(`${count - atOnce} permits are missing`)
      await runtime.advance(1000)
      await asked
      for (let key = 0; key < KEYS; key += 1)
        if ((await cache.inspect(`k${key}`))?.waitersHere !== 0) this.faults.push(`k${key} has waiters left`)
      await cache.clear()
    }
    for (const { signal } of this.#signals)
      if (getEventListeners(signal, 'abort').length > 0) this.faults.push('a signal has listeners left')
  }

  #outer(cache: Cache, call: Outer): void {
    this.#unsettled += 1
    this.#make(cache, call, -1)
      .catch((error: unknown) => this.#check(error, 'outer'))
      .finally(() => (this.#unsettled -= 1))
  }

  /** `around`: the greatest key of the load around it. */
  async #make(cache: Cache, call: Plan, around: number): Promise<void> {
    const keys = call.steps
      .map((step) => (this.#scenario.cyclic ? step : around + 1 + step))
      .filter((key) => key < KEYS)
    const [first] = keys
    if (first === undefined) return
    const signal = call.signal === undefined ? undefined : this.#signals[call.signal]?.signal
    const options: CallOptions = call.strict ? { signal, staleWhileRevalidate: false } : { signal }
    const loader = async (load: Load): Promise<unknown> => {
      end(load, call.ending)
      return await this.#load(cache, call, first)
    }
    if (call.verb === 'getOrSet') await cache.getOrSet(`k${first}`, loader, options)
    else if (call.verb === 'refresh') await cache.refresh(`k${first}`, loader, options)
    else if (call.verb === 'getOrSetMany') await this.#makeMany(cache, call, keys, options)
    else {
      const { refresh } = await cache.lookup(`k${first}`, loader, options)
      if (call.verb === 'await refresh') await refresh
    }
    this.#countListeners()
  }

  async #makeMany(cache: Cache, call: Plan, keys: readonly number[], options: CallOptions): Promise<void> {
    const loader = async (missing: readonly string[], load: ManyLoad): Promise<Map<string, unknown>> => {
      for (const key of missing) endOne(load, key, call.ending)
      const value = await this.#load(cache, call, Math.max(...missing.map((key) => Number(key.slice(1)))))
      return new Map(missing.map((key) => [key, value]))
    }
    await cache.getOrSetMany(
      keys.map((key) => `k${key}`),
      loader,
      options,
    )
  }

  async #load(cache: Cache, call: Plan, key: number): Promise<string> {
    this.#running += 1
    const { calls, maxLoads } = this.#scenario
    const nests = calls.some(({ inner }) => inner.length > 0)
    // Each of the two processes has its own permits.
    if (!nests && this.#running > 2 * maxLoads) this.faults.push(`${this.#running} loads at once`)
    try {
      await this.#pause(call.took)
      for (const inner of call.inner) await this.#makeInner(cache, inner, key)
      return 'value'
    } finally {
      this.#running -= 1
    }
  }

  /** A load goes on without what an inner call would have brought. */
  async #makeInner(cache: Cache, inner: Plan, key: number): Promise<void> {
    try {
      await this.#make(cache, inner, key)
    } catch (error) {
      this.#check(error, 'inner')
    }
  }

  #check(error: unknown, where: 'outer' | 'inner'): void {
    const { message, code = message } = error as { readonly code?: string; readonly message: string }
    const mayBe = ['left', ...(where === 'outer' ? ['CATTLEGRID_TOO_MANY_WAITERS'] : [])]
    if (this.#scenario.cyclic) mayBe.push('CATTLEGRID_REENTRANT')
    if (!mayBe.includes(code)) this.faults.push(`${where} ${code} ${message}`)
  }

  #countListeners(): void {
    for (const { signal } of this.#signals)
      if (getEventListeners(signal, 'abort').length > 1) this.faults.push('a signal has several listeners')
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#fleet.runtime.schedule(resolve, ms))
  }
}

function end(load: Pick<Load, 'keep' | 'uncacheable'>, ending: Plan['ending']): void {
  if (ending === 'unkept') load.keep({ ttl: 0 })
  else if (ending !== 'value') load.uncacheable({ for: '5ms', share: ending === 'uncacheable' })
}

function endOne(load: ManyLoad, key: string, ending: Plan['ending']): void {
  end({ keep: (options) => load.keep(key, options), uncacheable: (options) => load.uncacheable(key, options) }, ending)
}

describe('calls of every verb, alone and inside of loads', () => {
  it('all end, leave nothing behind, and fail only where they may', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const play = new Play(given)
        await play.run()
        expect(play.faults).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
