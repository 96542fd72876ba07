import { beforeEach, describe, expect, it } from '@jest/globals'
import { isCattlegridError, memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { AutoPermits } from '../../src/flight/auto-permits.ts'
import { Permits, type QueuedLoad, type ReleasePermit, ViewPermits } from '../../src/flight/permits.ts'
import { limitThatFollows } from '../../src/policy/load-limit.ts'

const FIRST = limitThatFollows.first.limit
import { createFleet, Origin } from '../support/fleet.ts'

/** A load in the queue of a process. */
class Waiting implements QueuedLoad {
  callers = 1
  patience = Infinity
  permit: ReleasePermit | undefined
  refusedFor: number | undefined

  onPermit(permit: ReleasePermit): void {
    this.permit = permit
  }

  refuse(wait: number): void {
    this.refusedFor = wait
  }
}

let runtime: ManualRuntime
let store: Store

beforeEach(() => {
  runtime = createManualRuntime()
  store = memoryStore({ runtime: { ...runtime, schedule: () => () => undefined } })
})

function join(source = 'database'): AutoPermits {
  return new AutoPermits(limitThatFollows, source, store, runtime, () => undefined)
}

/** Queues so many loads in a process. */
function queue(permits: AutoPermits, count: number): readonly Waiting[] {
  return Array.from({ length: count }, () => {
    const load = new Waiting()
    permits.queueForPermit(load)
    return load
  })
}

function granted(loads: readonly Waiting[]): number {
  return loads.filter(({ permit }) => permit !== undefined).length
}

/** Writes a limit on the board, as a process does that has computed it. */
async function setLimit(limit: number, source = 'database'): Promise<void> {
  const post = { board: `loads:${source}`, process: 'test', text: '', keepFor: 1 }
  const board = await store.post(post)
  if (board.kind !== 'board') throw new Error('away')
  const text = JSON.stringify({ ...limitThatFollows.first, growth: 1.05, limit, base: 10 })
  await store.post({ ...post, heading: { round: board.round, text } })
  await runtime.advance(1)
}

describe('permits that follow a source', () => {
  it('let one load of each process begin before anything is known', () => {
    const permits = join()
    expect(permits.tryAcquirePermit()).toBeDefined()
    expect(permits.tryAcquirePermit()).toBeUndefined()
  })

  it('allow the first limit to all processes together', async () => {
    const [first, second] = [join(), join()]
    const loads = [...queue(first, 20), ...queue(second, 20)]
    await runtime.advance(200)
    expect(granted(loads)).toBe(FIRST)
  })

  it('give each process its part, and all that it wants to one that wants less', async () => {
    const [first, second] = [join(), join()]
    const few = queue(first, 2)
    const many = queue(second, 50)
    await runtime.advance(1500)
    expect(granted(few)).toBe(2)
    expect(granted(many)).toBe(FIRST - 2)
  })

  it('go round where there are fewer than processes', async () => {
    await setLimit(1)
    const processes = [join(), join(), join()]
    const loads = processes.map((permits) => queue(permits, 30))
    // Each may begin one load before it knows.
    await runtime.advance(20)
    for (const load of loads.flat()) {
      load.permit?.()
      load.permit = undefined
    }
    const served = [0, 0, 0]
    for (let step = 0; step < 200; step += 1) {
      await runtime.advance(10)
      const running = loads.flat().filter(({ permit }) => permit !== undefined)
      expect(running.length).toBeLessThanOrEqual(1)
      for (const load of running) {
        load.permit?.()
        load.permit = undefined
        const process = loads.findIndex((own) => own.includes(load))
        served[process] = (served[process] ?? 0) + 1
      }
    }
    expect(served.every((count) => count > 0)).toBe(true)
  })

  it('grow within moments to what loads in the background want, none of which waits', async () => {
    await setLimit(64)
    const permits = join()
    const loads: ReleasePermit[] = []
    for (let stale = 0; stale < 6; stale += 1) {
      for (let hit = 0; hit < 50; hit += 1) {
        const permit = permits.tryAcquirePermit()
        if (permit !== undefined) loads.push(permit)
      }
      await runtime.advance(20)
    }
    expect(loads.length).toBe(64)
  })

  it('have a limit for each source', async () => {
    await setLimit(1, 'slow')
    const slow = queue(join('slow'), 10)
    const fast = queue(join('fast'), 10)
    await runtime.advance(200)
    expect(granted(slow)).toBe(1)
    expect(granted(fast)).toBe(10)
  })

  it('go to the load with the most callers first, and of equal ones to the last', async () => {
    await setLimit(1)
    const permits = join()
    const running = permits.tryAcquirePermit()
    const [old, hot, fresh] = queue(permits, 3)
    if (hot === undefined || old === undefined || fresh === undefined) throw new Error('three')
    hot.callers = 5
    await runtime.advance(100)
    running?.()
    expect([old, hot, fresh].map(({ permit }) => permit !== undefined)).toEqual([false, true, false])
    hot.permit?.()
    expect([old, fresh].map(({ permit }) => permit !== undefined)).toEqual([false, true])
  })

  it('refuse a load whose turn cannot come in time, and say when it could', async () => {
    await setLimit(1)
    const permits = join()
    const running = permits.tryAcquirePermit()
    const [hot, patient, hurried] = queue(permits, 3)
    Object.assign(hot ?? {}, { callers: 9 })
    Object.assign(hurried ?? {}, { patience: 2000 })
    // Until the queue is put in order.
    await runtime.advance(20)
    running?.(3000)
    await runtime.advance(2000)
    expect(hot?.permit).toBeDefined()
    expect([patient, hurried].map((load) => load?.refusedFor)).toEqual([undefined, 3000])
  })

  it('refuse fewer loads before the first sign of a queue at the source, while the limit doubles', async () => {
    const permits = join()
    const running = permits.tryAcquirePermit()
    const loads = queue(permits, 1000)
    for (const load of loads) load.patience = 5500
    running?.(1000)
    await runtime.advance(1200)
    // With 12 at once: 12, 24, 48, 96 and so on, a second each.
    expect(loads.filter(({ refusedFor }) => refusedFor === undefined).length).toBeGreaterThan(12 * 2 ** 4)
    expect(loads.filter(({ refusedFor }) => refusedFor !== undefined).length).toBeGreaterThan(500)
  })

  it('refuse no load because a store that does not answer holds the permits of fast ones', async () => {
    await setLimit(1)
    const permits = join()
    permits.tryAcquirePermit()?.(10)
    permits.tryAcquirePermit()
    const [waiting] = queue(permits, 1)
    Object.assign(waiting ?? {}, { patience: 5000 })
    await runtime.advance(4900)
    expect(waiting?.refusedFor).toBeUndefined()
  })

  it('count a load whose loader runs on after its time-out, for as long again', async () => {
    await setLimit(1)
    const permits = join()
    const permit = permits.tryAcquirePermit()
    const [next] = queue(permits, 1)
    permit?.(3000, new Promise(() => undefined))
    await runtime.advance(2900)
    expect(next?.permit).toBeUndefined()
    await runtime.advance(200)
    expect(next?.permit).toBeDefined()
  })

  it.each([0, 1, 2])(
    'are granted in this process alone while the store is away, at its part of the limit of round %i',
    async (rounds) => {
      for (let round = 0; round < rounds; round += 1) await setLimit(FIRST)
      const [first, second] = [join(), join()]
      queue(first, 1)
      queue(second, 1)
      await runtime.advance(200)
      queue(first, 1)
      await runtime.advance(200)
      store.post = () => Promise.resolve({ kind: 'away', why: 'error', cause: new Error('away') })
      const loads = queue(first, 30)
      await runtime.advance(200)
      expect(granted(loads) + 2).toBe(FIRST / 2)
    },
  )

  it('ignore what is no report and no limit of this library on the board', async () => {
    const post = { board: 'loads:database', process: 'foreign', text: 'NaN -1 x', keepFor: 60_000 }
    await store.post({ ...post, heading: { round: 0, text: '{"limit":"all"}' } })
    const loads = queue(join(), 20)
    await runtime.advance(200)
    expect(granted(loads)).toBe(FIRST)
  })

  it('send nothing for a process that has no loads', async () => {
    const permits = join()
    const [load] = queue(permits, 1)
    await runtime.advance(100)
    load?.permit?.()
    await runtime.advance(5000)
    let posts = 0
    const { post } = store
    store.post = (note) => {
      posts += 1
      return post.call(store, note)
    }
    await runtime.advance(60_000)
    expect(posts).toBe(0)
  })
})

describe('a load that queues', () => {
  it('gives back the permit of its view when the queue of the cache refuses it', () => {
    const own = new Permits(1)
    const refused: QueuedLoad[] = []
    const outer = {
      permitAvailable: false,
      tryAcquirePermit: () => undefined,
      queueForPermit: (load: QueuedLoad) => {
        refused.push(load)
        return () => undefined
      },
    }
    const load = new Waiting()
    new ViewPermits(own, outer).queueForPermit(load)
    expect(own.permitAvailable).toBe(false)
    refused[0]?.refuse(7)
    expect(load.refusedFor).toBe(7)
    expect(own.permitAvailable).toBe(true)
  })

  it('has its callers served a stale value at once, and begins in its turn', async () => {
    const fleet = createFleet({ maxLoads: 1, staleIfError: '1h' })
    const [cache] = fleet.caches
    const origin = new Origin()
    await cache.set('stale', 'old', { ttl: '1ms' })
    await fleet.runtime.advance(2)
    const running = cache.getOrSet('running', origin.loader)
    await fleet.runtime.advance(0)
    const asked = fleet.runtime.elapsed()
    expect(await cache.getOrSet('stale', origin.loader)).toBe('old')
    expect(fleet.runtime.elapsed()).toBe(asked)
    expect(origin.count).toBe(1)
    origin.last.resolve('value')
    await running
    await fleet.runtime.advance(0)
    origin.last.resolve('new')
    await fleet.runtime.advance(0)
    expect(await cache.get('stale')).toBe('new')
  })
})

describe("a cache with maxLoads: 'auto'", () => {
  it('rejects a call whose load could not begin within waitTimeout, unless a stale value may be served', async () => {
    const fleet = createFleet({ maxLoads: 'auto', waitTimeout: '4s', staleIfError: '1h' })
    const [cache] = fleet.caches
    ;({ store, runtime } = fleet)
    await setLimit(FIRST, 'default')
    const origin = new Origin()
    await cache.set('stale', 'old', { ttl: 1 })
    await fleet.runtime.advance(2)
    // The first load begins at once.
    void cache.getOrSet('first', origin.loader)
    const stale = cache.getOrSet('stale', origin.loader, { softTimeout: false })
    const ends = Array.from({ length: 200 }, (_, key) => cache.getOrSet(`key-${key}`, origin.loader))
    const settled = Promise.allSettled(ends)
    // A source that answers six loads in half a second, however many it has.
    for (let turn = 0; turn < 20; turn += 1) {
      await fleet.runtime.advance(500)
      for (const { resolve } of origin.loads.slice(6 * turn, 6 * turn + 6)) resolve('value')
    }
    expect(await stale).toBe('old')
    const refused = (await settled).filter((end) => end.status === 'rejected')
    expect(refused.length).toBeGreaterThan(50)
    for (const { reason } of refused) expect(isCattlegridError(reason, 'CATTLEGRID_OVERLOADED')).toBe(true)
  })

  it('has a limit of its own for the source of a view', async () => {
    const fleet = createFleet({ maxLoads: 'auto' })
    const [cache] = fleet.caches
    const reviews = cache.with({ source: 'reviews', maxLoads: 'auto' })
    const limits: string[] = []
    cache.on('load-limit', ({ source }) => void limits.push(source))
    const origin = new Origin()
    const ends = [cache, reviews].flatMap((view, index) =>
      Array.from({ length: 30 }, (_, key) => view.getOrSet(`${index}-${key}`, origin.loader)),
    )
    await fleet.runtime.advance(300)
    expect(origin.count).toBe(2 * FIRST)
    for (let round = 0; round < 20; round += 1) {
      for (const { resolve } of origin.loads) resolve('value')
      await fleet.runtime.advance(100)
    }
    await Promise.all(ends)
    expect(new Set(limits)).toEqual(new Set(['default', 'reviews']))
  })
})
