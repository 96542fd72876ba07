import { beforeEach, describe, expect, it } from '@jest/globals'
import { memoryStore, type Store } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { AutoPermits } from '../../src/flight/auto-permits.ts'
import type { QueuedLoad, ReleasePermit } from '../../src/flight/permits.ts'
import { limitThatFollows } from '../../src/policy/load-limit.ts'
import { FIRST, setLimit as setLimitOf } from '../support/load-board.ts'

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

const setLimit = (limit: number, source = 'database'): Promise<void> => setLimitOf({ store, runtime }, limit, source)

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

  it('leave to each process an equal part that it can use at once, whatever ran in the others lately', async () => {
    await setLimit(24)
    const processes = [join(), join(), join(), join()]
    const runFor50 = (permit: ReleasePermit | undefined): unknown => runtime.schedule(() => permit?.(50), 50)
    const waiting = new Map<Waiting, number>()
    let longest = 0
    // One process after the other has six loads at once.
    for (let step = 0; step < 400; step += 1) {
      const busy = step % 20 === 0 ? processes[(step / 20) % 4] : undefined
      for (const own of busy === undefined ? [] : Array.from({ length: 6 }, () => busy)) {
        const permit = own.tryAcquirePermit()
        if (permit === undefined) waiting.set(queue(own, 1)[0] ?? new Waiting(), step)
        else runFor50(permit)
      }
      await runtime.advance(10)
      for (const [load, since] of waiting) {
        if (load.permit === undefined) continue
        waiting.delete(load)
        runFor50(load.permit)
        if (step > 200) longest = Math.max(longest, (step + 1 - since) * 10)
      }
    }
    expect(waiting.size).toBe(0)
    expect(longest).toBeLessThanOrEqual(20)
  })

  it('go round where there are fewer than processes', async () => {
    await setLimit(1)
    const processes = [join(), join(), join()]
    const loads = processes.map((permits) => queue(permits, 30))
    // Each may begin one load before it knows.
    await runtime.advance(20)
    const running = (): readonly Waiting[] => loads.flat().filter(({ permit }) => permit !== undefined)
    for (const load of running()) {
      load.permit?.()
      load.permit = undefined
    }
    const served = [0, 0, 0]
    for (let step = 0; step < 200; step += 1) {
      await runtime.advance(10)
      const now = running()
      expect(now.length).toBeLessThanOrEqual(1)
      for (const load of now) {
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

  it('keep what is known of the source when the store is emptied', async () => {
    await setLimit(40)
    queue(join(), 50)
    await runtime.advance(100)
    const emptied = memoryStore({ runtime: { ...runtime, schedule: () => () => undefined } })
    store.post = (note) => emptied.post(note)
    await runtime.advance(100)
    // A process that knows nothing learns it from the board.
    const limits: number[] = []
    queue(new AutoPermits(limitThatFollows, 'database', store, runtime, ({ atOnce }) => limits.push(atOnce)), 50)
    await runtime.advance(10)
    expect(limits[0]).toBeGreaterThan(FIRST)
  })

  it('have a limit for each source', async () => {
    await setLimit(1, 'slow')
    const slow = queue(join('slow'), 10)
    const fast = queue(join('fast'), 10)
    await runtime.advance(200)
    expect(granted(slow)).toBe(1)
    expect(granted(fast)).toBe(10)
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
