import { getEventListeners } from 'node:events'
import type { Cache, CacheOptions, CallOptions, ClaimedLead, Load, ManyLoad, Store } from '@cattlegrid/core'
import { History, keysFrom, type Value } from './history.ts'
import { KEYS, type Outer, type Plan, READS, type Scenario, SIGNALS, type Step, tagOf } from './scenario.ts'

/** What `maxLoads: 'auto'` begins with, for all processes together. */
const FIRST_LIMIT = 12

/** Where a scenario is played: three caches on one store, and its time. */
export interface Stage {
  readonly caches: readonly [Cache, Cache, Cache]
  readonly stores: readonly Store[]
  pause(ms: number): Promise<void>
  /** Lets time pass until `isDone`, or until everything that can still happen has happened; then calls `isDone` once more. */
  settle(isDone: () => boolean | Promise<boolean>): Promise<void>
}

/** No caller gives up by itself, and no load: what does not end hangs. */
export function optionsOf({ maxLoads, maxWaiters, swr }: Scenario): CacheOptions {
  return {
    ttl: '20ms',
    ...(swr ? { staleWhileRevalidate: '50ms' } : {}),
    waitTimeout: '1h',
    loadTimeout: '1h',
    softTimeout: false,
    failureCooldown: { min: '1ms', max: '5ms' },
    maxLoads,
    maxWaiters,
    maxWaitersPerKey: maxWaiters,
  }
}

/** Plays a scenario. Returns what must not have happened. */
export async function play(scenario: Scenario, stage: Stage): Promise<readonly string[]> {
  const run = new Play(scenario, stage)
  await run.run()
  return run.faults
}

class Play {
  readonly #scenario: Scenario
  readonly #stage: Stage
  readonly #views: readonly Cache[]
  readonly #history = new History()
  readonly #signals = Array.from({ length: SIGNALS }, () => new AbortController())
  #unsettled = 0
  #running = 0
  /** Of those that followed the source. */
  #greatestLimit = FIRST_LIMIT

  constructor(scenario: Scenario, stage: Stage) {
    this.#scenario = scenario
    this.#stage = stage
    this.#views = stage.caches.map((cache) => cache.with({ maxLoads: 2 }))
    for (const store of stage.stores) this.#slowDown(store)
    for (const cache of stage.caches)
      cache.on('load-limit', ({ limit }) => {
        this.#greatestLimit = Math.max(this.#greatestLimit, limit)
      })
  }

  get faults(): string[] {
    return this.#history.faults
  }

  async run(): Promise<void> {
    const { calls, steps, aborts, cyclic } = this.#scenario
    // Two processes cannot see a cycle that they close together.
    for (const call of calls) this.#begin(call.at, () => this.#make(cyclic ? 0 : call.process, call, -1), 'outer')
    for (const step of steps) this.#begin(step.at, () => this.#take(step), 'outer')
    for (const [index, at] of aborts.entries())
      void this.#stage.pause(at).then(() => this.#signals[index]?.abort(new Error('left')))
    // A load whose callers have left goes on.
    await this.#stage.settle(() => this.#unsettled === 0 && this.#running === 0)
    if (this.#unsettled > 0) this.faults.push(`${this.#unsettled} calls hang`)
    for (const [index, cache] of this.#stage.caches.entries()) await this.#expectNothingLeft(cache, index)
    for (const { signal } of this.#signals)
      if (getEventListeners(signal, 'abort').length > 0) this.faults.push('a signal has listeners left')
  }

  /** Every answer of the store is decided when it is asked, and arrives later. */
  #slowDown(store: Store): void {
    const { delays } = this.#scenario
    let answers = 0
    for (const step of ['read', 'acquire', 'commit', 'release', 'put', 'invalidate'] as const) {
      const real = store[step].bind(store) as (...args: readonly unknown[]) => Promise<unknown>
      const slowed = async (...args: readonly unknown[]): Promise<unknown> => {
        const answer = await real(...args)
        const delay = delays[answers++ % delays.length] ?? 0
        if (delay > 0) await this.#stage.pause(delay)
        return answer
      }
      Object.assign(store, { [step]: slowed })
    }
  }

  async #expectNothingLeft(cache: Cache, process: number): Promise<void> {
    // A call whose awaiter was refused as re-entrant goes on, and counts towards `maxWaiters` once the load around it has ended.
    await this.#stage.settle(() => cache.stats().waiting === 0)
    if (cache.stats().waiting > 0) this.faults.push(`${cache.stats().waiting} calls wait, and nobody awaits them`)
    // As many at once as there are permits: one that was not given back is missing now.
    const { maxLoads } = this.#scenario
    const count = maxLoads === 'auto' ? 1 : Math.min(maxLoads, 4)
    let atOnce = 0
    let done = 0
    const isFull = (): boolean => atOnce === count
    const loader = async (): Promise<number> => {
      atOnce += 1
      // A load that ended would make room for the next.
      for (let turn = 0; turn < 100 && !isFull(); turn += 1) await this.#stage.pause(20)
      return atOnce
    }
    for (let index = 0; index < count; index += 1)
      void cache
        .getOrSet(`last ${process} ${index}`, loader)
        .then((got) => got === count || this.faults.push(`${count - got} permits are missing`))
        .catch((error: unknown) => this.faults.push(`afterwards ${String(error)}`))
        .finally(() => (done += 1))
    await this.#stage.settle(() => done === count)
    for (let key = 0; key < KEYS; key += 1)
      if (!(await this.#isLeft(cache, `k${key}`))) this.faults.push(`k${key} has waiters left`)
  }

  /** True once nobody waits for the key: a background refresh may still have to end. */
  async #isLeft(cache: Cache, key: string): Promise<boolean> {
    let waiters: number | undefined
    await this.#stage.settle(async () => {
      waiters = (await cache.inspect(key))?.waitersHere
      return waiters === 0
    })
    return waiters === 0
  }

  #begin(at: number, action: () => Promise<unknown>, where: 'outer' | 'inner'): void {
    this.#unsettled += 1
    void this.#stage
      .pause(at)
      .then(action)
      .catch((error: unknown) => this.#check(error, where))
      .finally(() => (this.#unsettled -= 1))
  }

  /** `around`: the greatest key of the load around it. */
  async #make(process: Outer['process'], call: Plan, around: number): Promise<void> {
    const { cyclic } = this.#scenario
    const keys = call.steps.map((step) => (cyclic ? step : around + 1 + step)).filter((key) => key < KEYS)
    const [first] = keys
    const cache = call.limited ? this.#views[process] : this.#stage.caches[process]
    if (first === undefined || cache === undefined) return
    const signal = call.signal === undefined ? undefined : this.#signals[call.signal]?.signal
    const options: CallOptions = call.strict ? { signal, staleWhileRevalidate: false } : { signal }
    if (call.verb === 'getOrSetMany') await this.#makeMany(process, cache, call, keys, options)
    else await this.#makeOne(process, cache, call, first, options)
    for (const each of this.#signals)
      if (getEventListeners(each.signal, 'abort').length > 1) this.faults.push('a signal has several listeners')
  }

  async #makeOne(process: Outer['process'], cache: Cache, call: Plan, key: number, options: CallOptions) {
    const asked = this.#history.now()
    const loader = async (load: Load): Promise<Value> => {
      end(load, call, key)
      return await this.#load(process, call, key, key)
    }
    if (call.verb === 'getOrSet') this.#history.check(await cache.getOrSet(`k${key}`, loader, options), key, asked)
    else if (call.verb === 'refresh') this.#history.check(await cache.refresh(`k${key}`, loader, options), key, asked)
    else if (call.verb === 'claim') await this.#claim(process, cache, call, key, options)
    else {
      const { value, refresh } = await cache.lookup(`k${key}`, loader, options)
      this.#history.check(value, key, asked)
      if (call.verb === 'await refresh') await refresh
    }
  }

  async #claim(process: Outer['process'], cache: Cache, call: Plan, key: number, options: CallOptions): Promise<void> {
    const asked = this.#history.now()
    const claim = await cache.claim(`k${key}`, options)
    if (claim.kind === 'value') this.#history.check(claim.value, key, asked)
    if (claim.kind !== 'lead') return
    this.#history.check(claim.stale?.value, key, asked)
    const held = { ...call, inner: [] }
    await this.#load(process, held, key, key).then(
      (value) => endLead(claim, held, value),
      (error: unknown) => claim.fail(error),
    )
  }

  async #makeMany(
    process: Outer['process'],
    cache: Cache,
    call: Plan,
    keys: readonly number[],
    options: CallOptions,
  ): Promise<void> {
    const asked = this.#history.now()
    const loader = async (missing: readonly string[], load: ManyLoad): Promise<Map<string, unknown>> => {
      const numbers = missing.map((key) => Number(key.slice(1)))
      for (const [index, name] of missing.entries()) endOne(load, name, call, numbers[index] ?? 0)
      const value = await this.#load(process, call, 0, Math.max(...numbers))
      return new Map(missing.map((name, index) => [name, { ...value, key: numbers[index] }]))
    }
    const found = await cache.getOrSetMany(
      keys.map((key) => `k${key}`),
      loader,
      options,
    )
    for (const [name, value] of found) this.#history.check(value, Number(name.slice(1)), asked)
  }

  /** `greatest`: the greatest key of the load. */
  async #load(process: Outer['process'], call: Plan, key: number, greatest: number): Promise<Value> {
    this.#running += 1
    const value = this.#history.loaded(key, call.tagged)
    const nests = this.#scenario.calls.some(({ inner }) => inner.length > 0)
    if (!nests && this.#running > this.#mostAtOnce) this.faults.push(`${this.#running} loads at once`)
    try {
      await this.#stage.pause(call.took)
      // A load goes on without what an inner call would have brought.
      for (const inner of call.inner)
        await this.#make(process, inner, greatest).catch((error: unknown) => this.#check(error, 'inner'))
      if (call.ending === 'error') throw new Error('no source')
      return value
    } finally {
      this.#running -= 1
    }
  }

  /** Each of the two processes has its own permits, or the first load before it knows the limit of both. */
  get #mostAtOnce(): number {
    const { maxLoads } = this.#scenario
    return maxLoads === 'auto' ? this.#greatestLimit + 2 : 2 * maxLoads
  }

  async #take(step: Step): Promise<void> {
    const cache = this.#stage.caches[step.process]
    if ((READS as readonly string[]).includes(step.verb)) return await this.#read(cache, step)
    const acknowledge = this.#history.write(step)
    await this.#write(cache, step)
    acknowledge()
  }

  async #read(cache: Cache, { verb, key }: Step): Promise<void> {
    const name = `k${key}`
    const asked = this.#history.now()
    if (verb === 'getMany') {
      const found = await cache.getMany(keysFrom(key).map((each) => `k${each}`))
      for (const [each, value] of found) this.#history.check(value, Number(each.slice(1)), asked)
    } else if (verb === 'peek') this.#history.check(cache.peek(name)?.value, key, asked)
    else if (verb === 'read') this.#history.check((await cache.read(name))?.value, key, asked)
    else if (verb === 'get') this.#history.check(await cache.get(name), key, asked)
    else await cache.inspect(name)
  }

  async #write(cache: Cache, { verb, key }: Step): Promise<void> {
    const name = `k${key}`
    if (verb === 'set' || verb === 'set with a tag') {
      const tagged = verb === 'set with a tag'
      const { value, acknowledge } = this.#history.set(key, tagged)
      await cache.set(name, value, tagged ? { tags: [tagOf(key)] } : {})
      acknowledge()
    } else if (verb === 'deleteMany') await cache.deleteMany(keysFrom(key).map((each) => `k${each}`))
    else if (verb === 'invalidateTags') await cache.invalidateTags([tagOf(key)])
    else if (verb === 'expireTags') await cache.expireTags([tagOf(key)])
    else if (verb === 'clear') await cache.clear()
    else await (verb === 'expire' ? cache.expire(name) : cache.delete(name))
  }

  #check(error: unknown, where: 'outer' | 'inner'): void {
    const { message, code = message } = error as { readonly code?: string; readonly message: string }
    const mayBe = ['left', 'no source', 'CATTLEGRID_LOAD_FAILED']
    if (where === 'outer') mayBe.push('CATTLEGRID_TOO_MANY_WAITERS')
    if (this.#scenario.cyclic) mayBe.push('CATTLEGRID_REENTRANT')
    if (!mayBe.includes(code)) this.faults.push(`${where} ${code} ${message}`)
  }
}

function end(load: Pick<Load, 'keep' | 'uncacheable'>, { ending, tagged }: Plan, key: number): void {
  if (tagged) load.keep({ tags: [tagOf(key)] })
  if (ending === 'unkept') load.keep({ ttl: 0 })
  else if (ending === 'uncacheable' || ending === 'unshareable')
    load.uncacheable({ for: '5ms', share: ending === 'uncacheable' })
}

async function endLead(lead: ClaimedLead<unknown>, { ending, tagged }: Plan, value: Value): Promise<void> {
  const tags = tagged ? { tags: [tagOf(value.key)] } : {}
  if (ending === 'unshareable') await lead.handOver()
  else if (ending === 'uncacheable') await lead.uncacheable({ for: '5ms' })
  else await lead.commit(value, ending === 'unkept' ? { ttl: 0, ...tags } : tags)
}

function endOne(load: ManyLoad, name: string, call: Plan, key: number): void {
  const one = {
    keep: (options: Parameters<Load['keep']>[0]) => load.keep(name, options),
    uncacheable: (options?: Parameters<Load['uncacheable']>[0]) => load.uncacheable(name, options),
  }
  end(one, call, key)
}
