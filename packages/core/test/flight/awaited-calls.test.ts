import { describe, expect, it } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { cachedMethod } from '@cattlegrid/core/decorator'
import * as fc from 'fast-check'
import { createFleet, type Fleet, Origin, rejection, settle } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'

type Ask = (cache: Cache, key: string, loader: () => Promise<string>) => Promise<unknown>

/** By how a loader asks for another key. */
const ways: Record<string, Ask> = {
  getOrSet: (cache, key, loader) => cache.getOrSet(key, loader),
  lookup: (cache, key, loader) => cache.lookup(key, loader),
  refresh: (cache, key, loader) => cache.refresh(key, loader),
  getOrSetMany: (cache, key, loader) =>
    cache.getOrSetMany([key], async (keys) => new Map([[keys[0] ?? '', await loader()]])),
  wrap: (cache, key, loader) => cache.wrap(loader, { key: () => key })(),
  cachedMethod: (cache, key, loader) => {
    class Site {
      @cachedMethod({ cache, key: () => key })
      async load(): Promise<string> {
        return await loader()
      }
    }
    return new Site().load()
  },
}
const each = Object.entries(ways)

/** How a loader awaits a call. */
const awaits: Record<string, (call: Promise<unknown>) => Promise<unknown>> = {
  'returns it': (call) => call,
  'awaits it': async (call) => await call,
  'gives it to Promise.all': (call) => Promise.all([call, Promise.resolve()]),
  'gives it to Promise.allSettled': async (call) => {
    const [result] = await Promise.allSettled([call])
    if (result.status === 'rejected') throw result.reason
    return result.value
  },
  'gives it to Promise.any': (call) =>
    Promise.any([call, Promise.reject(new Error('other'))]).catch((error: unknown) =>
      Promise.reject((error as AggregateError).errors[0]),
    ),
  'gives it to Promise.race': (call) => Promise.race([call, new Promise(() => {})]),
  'continues it by then': (call) => call.then((value) => value),
  'continues it by catch': (call) => call.catch((error: unknown) => Promise.reject(error)),
  'continues it by finally': (call) => call.finally(() => undefined),
  'continues it in a promise of its own': (call) => new Promise((resolve, reject) => void call.then(resolve, reject)),
  'awaits it in a helper': async (call) => await (async () => await Promise.resolve().then(() => call))(),
}

const refused = {
  code: 'CATTLEGRID_REENTRANT',
  message: 'A loader asks for a key that it is loading: a → b → a. Give the inner call another key.',
}

/** The error of a call that is refused by now. */
const orWaits = async (call: Promise<unknown>): Promise<unknown> => await Promise.race([call, Promise.resolve('waits')])

describe('a load begun inside another that does not await it', () => {
  it.each(each)('joins the other load and gets its value: %s', async (_, ask) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const rest = new Origin()
    let prefetch: Promise<unknown> | undefined
    const call = cache.getOrSet('a', async (load) => {
      prefetch = ask(cache, 'b', async () => `b of ${await cache.getOrSet<string>('a', never)}`)
      return await rest.loader(load)
    })
    await settle(fleet)
    rest.last.resolve('a')
    expect(await call).toBe('a')
    await prefetch
    expect(await cache.get('b')).toBe('b of a')
  })

  it.each(each)('may be awaited by it in its own way: %s', async (_, ask) => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const rest = new Origin()
    const call = cache.getOrSet('a', async (load) => {
      void cache.getOrSet('b', async () => {
        await ask(cache, 'a', () => Promise.resolve('never'))
        return 'b'
      })
      return await rest.loader(load)
    })
    await settle(fleet)
    rest.last.resolve('a')
    expect(await call).toBe('a')
    await settle(fleet)
    expect(await cache.get('b')).toBe('b')
  })

  it('is not awaited by one that handles only its errors', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const rest = new Origin()
    const call = cache.getOrSet('a', async (load) => {
      cache.getOrSet('b', async () => `b of ${await cache.getOrSet<string>('a', never)}`).catch(() => undefined)
      return await rest.loader(load)
    })
    await settle(fleet)
    rest.last.resolve('a')
    await call
    await settle(fleet)
    expect(await cache.get('b')).toBe('b of a')
  })

  it('may be awaited by code outside of any load', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const rest = new Origin()
    let prefetch: Promise<string> | undefined
    const call = cache.getOrSet('a', (load) => {
      prefetch = cache.getOrSet('b', async () => `b of ${await cache.getOrSet<string>('a', never)}`)
      return rest.loader(load)
    })
    await settle(fleet)
    const outside = prefetch?.then((value) => value)
    await settle(fleet)
    rest.last.resolve('a')
    expect(await Promise.all([call, outside])).toEqual(['a', 'b of a'])
  })

  it('has a permit although that load holds the only one: it may be awaited later', async () => {
    const fleet = createFleet({ maxLoads: 1 })
    const [cache] = fleet.caches
    const [rest, other] = [new Origin(), new Origin()]
    const call = cache.getOrSet('a', async (load) => {
      const b = cache.getOrSet('b', other.loader)
      await rest.loader(load)
      return await b
    })
    await settle(fleet)
    expect(other.count).toBe(1)
    rest.last.resolve('go on')
    other.last.resolve('b')
    expect(await call).toBe('b')
  })
})

describe('a cycle of waits', () => {
  const combined = each.flatMap(([way, ask]) =>
    Object.entries(awaits).map(([how, wait]) => [way, how, ask, wait] as const),
  )

  it.each(combined)('is refused at once when the loader asks by %s and %s', async (_way, _how, ask, wait) => {
    const fleet = createFleet({ loadTimeout: '5s' })
    const [cache] = fleet.caches
    const inner = (): Promise<string> => cache.getOrSet<string>('a', never)
    const call = rejection(cache.getOrSet('a', async () => await wait(ask(cache, 'b', inner))))
    await settle(fleet)
    expect(await orWaits(call)).toMatchObject(refused)
  })

  it.each(combined)(
    'is closed by the loader that awaits last, which asked by %s and later %s',
    async (_way, _how, ask, wait) => {
      const fleet = createFleet({ loadTimeout: '5s' })
      const [cache] = fleet.caches
      const pause = new Origin()
      const call = rejection(
        cache.getOrSet('a', async (load) => {
          const b = ask(cache, 'b', () => cache.getOrSet<string>('a', never))
          await pause.loader(load)
          return await wait(b)
        }),
      )
      await settle(fleet)
      pause.last.resolve('go on')
      await settle(fleet)
      expect(await orWaits(call)).toMatchObject(refused)
    },
  )

  it('leaves no wait behind in a loader that handles the refusal', async () => {
    const fleet = createFleet({ loadTimeout: '5s' })
    const [cache] = fleet.caches
    const pause = new Origin()
    const call = cache.getOrSet('a', async (load) => {
      const b = cache.getOrSet('b', async () => `b of ${await cache.getOrSet<string>('a', never)}`)
      await pause.loader(load)
      await rejection(b)
      return await cache.getOrSet('c', () => 'c')
    })
    await settle(fleet)
    pause.last.resolve('go on')
    expect(await call).toBe('c')
    await settle(fleet)
    expect(await cache.get('b')).toBe('b of c')
  })

  it('is what a paused cache takes the load of a key inside a load of it for, awaited or not: each would begin the next', async () => {
    const [cache] = createFleet().caches
    cache.pause()
    const errors: unknown[] = []
    const a = async (): Promise<string> => {
      void cache.getOrSet('b', () => cache.getOrSet('a', a)).catch((error: unknown) => errors.push(error))
      await new Promise(setImmediate)
      return 'a'
    }
    expect(await cache.getOrSet('a', a)).toBe('a')
    expect(errors).toMatchObject([refused])
  })
})

describe('loads that begin and await one another at random', () => {
  type Step = readonly [key: number, awaited: 'now' | 'later' | 'never']
  const keys = 4
  const steps = fc.array(fc.tuple(fc.nat(keys - 1), fc.constantFrom<Step[1]>('now', 'later', 'never')), {
    maxLength: 3,
  })

  async function run(fleet: Fleet, plans: readonly (readonly Step[])[]): Promise<unknown[]> {
    const [cache] = fleet.caches
    const errors: unknown[] = []
    const ask = (key: number): Promise<string> => cache.getOrSet(`${key}`, () => load(key))
    const load = async (key: number): Promise<string> => {
      const later: Promise<unknown>[] = []
      for (const [next, awaited] of plans[key] ?? []) {
        const call = ask(next)
        // A failure may come before anybody awaits the call.
        call.catch(() => undefined)
        if (awaited === 'now') await call
        if (awaited === 'later') later.push(call)
        await new Promise<void>((resolve) => void fleet.runtime.schedule(resolve, 1 + key))
      }
      for (const call of later) await call
      return 'loaded'
    }
    const calls = plans.map((_, key) => ask(key).catch((error: unknown) => errors.push(error)))
    await fleet.runtime.advance(1000)
    await Promise.race([Promise.all(calls), new Promise(setImmediate).then(() => errors.push('waits'))])
    return errors
  }

  it('end without the time limit of loads, and none is refused where the awaited ones form no cycle', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: keys, maxLength: keys }), async (plans) => {
        const errors = await run(createFleet({ loadTimeout: '1h' }), plans)
        for (const error of errors)
          expect(error).toMatchObject({ code: expect.stringMatching(/^CATTLEGRID_(REENTRANT|LOAD_FAILED)$/) })
        expect(errors.length === 0 || hasCycle(plans)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  function hasCycle(plans: readonly (readonly Step[])[]): boolean {
    const awaited = plans.map((plan) => plan.filter(([, when]) => when !== 'never').map(([key]) => key))
    const reaches = (from: number, to: number, seen: Set<number>): boolean =>
      (awaited[from] ?? []).some((next) => {
        if (next === to) return true
        if (seen.has(next)) return false
        seen.add(next)
        return reaches(next, to, seen)
      })
    return awaited.some((_, key) => reaches(key, key, new Set()))
  }
})
