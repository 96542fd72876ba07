import { inspect } from 'node:util'
import { beforeEach, describe, expect, it } from '@jest/globals'
import {
  type Cache,
  createCache,
  isCattlegridError,
  type KeepOptions,
  type Load,
  memoryStore,
  type Store,
} from '@cattlegrid/core'
import { cachedMethod } from '@cattlegrid/core/decorator'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { optionsTable } from '../options-table.ts'

/** Options that are declared beside the interface they belong to; their rows are like those of others. */
const { ttl, staleWhileRevalidate, staleIfError, tags } = optionsTable['SetOptions'] ?? {}
const unkept: readonly unknown[] = [0, '0s', 0.5, -0.001, -1, -Infinity]
const keepTtl = ttl && {
  ...ttl,
  refuses: ttl.refuses.filter((value) => !unkept.includes(value)),
  takes: [...ttl.takes, ...unkept],
}
const { drain } = optionsTable['CloseOptions'] ?? {}
const { stale } = optionsTable['GetOptions'] ?? {}
const { key, ...callRows } = optionsTable['WrapOptions'] ?? {}
const { store: cacheRow } = optionsTable['CacheOptions'] ?? {}
const table = Object.entries({
  ...optionsTable,
  KeepOptions: { ttl: keepTtl, staleWhileRevalidate, staleIfError, tags },
  UncacheableOptions: { for: { ...drain, takes: ['7s', 1] }, share: stale },
  CachedMethodOptions: {
    ...callRows,
    key,
    cache: { ...cacheRow, refuses: [null, 7, 'memory', {}], accepted: 'cache' },
  },
}).map(([name, rows]) => [name, rows as (typeof optionsTable)[string]] as const)

let runtime: ManualRuntime
let store: Store
let cache: Cache
let loads: number

beforeEach(async () => {
  runtime = createManualRuntime()
  store = memoryStore({ runtime })
  cache = createCache({ store, runtime, ttl: '1m' })
  loads = 0
  await cache.set('kept', 'as it was')
})

const loader = (): string => {
  loads += 1
  return 'loaded'
}
const deciding = (decide: (load: Load) => void): Promise<unknown> => cache.lookup('k', (load) => decide(load))

/** A call that takes options; what it leaves to the others, it adds itself. */
type Road = (options: never) => unknown

const making: Road = (options: object) => createCache({ runtime, ...options })
const calls: Record<string, Road> = {
  getOrSet: (options) => cache.getOrSet('k', loader, options),
  lookup: (options) => cache.lookup('k', loader, options),
  refresh: (options) => cache.refresh('k', loader, options),
  getOrSetMany: (options) => cache.getOrSetMany(['k'], () => new Map([['k', loader()]]), options),
  wrap: (options: object) => cache.wrap(loader, { key: () => 'k', ...options })(),
}
const ways: Record<string, Record<string, Road>> = {
  LeaseOptions: nested('lease'),
  FailureCooldownOptions: nested('failureCooldown'),
  EarlyRefreshOptions: nested('earlyRefresh'),
  NearOptions: { createCache: (options) => createCache({ runtime, near: options }) },
  OutageOptions: { createCache: (options) => createCache({ runtime, outage: options }) },
  RefreshBudgetOptions: {
    createCache: (options: object) => createCache({ runtime, refreshBudget: { perSecond: 1, atOnce: 1, ...options } }),
  },
  TagOptions: { createCache: (options) => createCache({ runtime, tags: options }) },
  LoadOptions: { createCache: making, ...calls },
  CacheOptions: { createCache: making },
  CallOptions: calls,
  ClaimOptions: { claim: (options) => cache.claim('k', options) },
  SetOptions: {
    set: (options) => cache.set('k', 7, options),
    setMany: (options) => cache.setMany(new Map([['k', 7]]), options),
  },
  InvalidateOptions: {
    delete: (options) => cache.delete('kept', options),
    expire: (options) => cache.expire('kept', options),
  },
  ExpireTagsOptions: { expireTags: (options) => cache.expireTags(['t'], options) },
  InspectOptions: { inspect: (options) => cache.inspect('k', options) },
  GetOptions: { get: (options) => cache.get('k', options), getMany: (options) => cache.getMany(['k'], options) },
  ReadOptions: { read: (options) => cache.read('k', options) },
  ViewOptions: { with: (options: object) => cache.with(options).getOrSet('k', loader) },
  WrapOptions: { wrap: (options: object) => cache.wrap(loader, { key: () => 'k', ...options })() },
  CloseOptions: { close: (options) => cache.close(options) },
  ReadyOptions: { ready: (options) => cache.ready(options) },
  MemoryStoreOptions: { memoryStore },
  KeepOptions: { 'load.keep': (options: KeepOptions) => deciding((load) => load.keep(options)) },
  UncacheableOptions: { 'load.uncacheable': (given: object) => deciding((load) => load.uncacheable(given)) },
  CachedMethodOptions: { cachedMethod: (options: object) => cachedMethod({ cache, key: () => 'k', ...options }) },
}

function nested(name: string): Record<string, Road> {
  const under = (road: Road): Road => {
    const into = road as (options: object) => unknown
    return (options) => into({ [name]: options })
  }
  return Object.fromEntries(Object.entries({ createCache: making, ...calls }).map(([way, road]) => [way, under(road)]))
}

const through = (road: Road, options: unknown): unknown => road(options as never)

const TAKEN = 'nothing: it was taken'

/** What a call throws or rejects with. */
async function refusal(act: () => unknown): Promise<unknown> {
  try {
    await act()
  } catch (error) {
    return error
  }
  return TAKEN
}

/** What is wrong with how a value was refused. */
function faultOf(error: unknown, name: string, value: unknown, accepted: string): string[] {
  const shown = inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 80 })
  if (!isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION')) return [`${shown}: ${inspect(error)}`]
  const { option, value: told, accepted: takes, message } = error
  const good =
    option.endsWith(`.${name}`) &&
    Object.is(told, value) &&
    takes.includes(accepted) &&
    [option, shown, takes].every((part) => message.includes(part))
  return good ? [] : [`${shown}: ${inspect({ option, told, message })}`]
}

async function expectNothingChanged(): Promise<void> {
  expect(loads).toBe(0)
  expect(await cache.read('kept')).toMatchObject({ value: 'as it was', state: 'fresh', age: 0, freshFor: 60_000 })
  expect(await store.inspect('k')).toEqual({ kind: 'found', entry: undefined, lease: undefined, cooldown: undefined })
  expect(await cache.getOrSet('k', loader)).toBe('loaded')
}

const cases = table.flatMap(([name, rows]) =>
  Object.entries(rows).flatMap(([option, row]) =>
    Object.entries(ways[name] ?? {}).map(([way, road]) => ({ name, option, row, way, road })),
  ),
)

describe('every option', () => {
  it('is in the table of ways to give it', () => {
    expect(Object.keys(ways)).toEqual(table.map(([name]) => name))
  })

  it.each(cases)('$name: $option of $way refuses other values, and nothing changes', async (one) => {
    const decidesInside = one.way.startsWith('load.')
    const faults: string[] = []
    for (const value of one.row.refuses) {
      const error = await refusal(() => through(one.road, { [one.option]: value }))
      faults.push(...faultOf(error, one.option, value, one.row.accepted))
      // A loader that decides badly has failed, like any that throws.
      if (decidesInside) await cache.delete('k')
    }
    expect(faults).toEqual([])
    await expectNothingChanged()
  })

  it.each(cases)('$name: $option of $way accepts what its row says', async ({ option, row, way, road }) => {
    for (const value of row.takes) {
      await through(road, { [option]: value })
      if (way !== 'close') await cache.delete('k')
    }
    expect(row.accepted).not.toBe('')
  })

  it.each(cases)(
    '$name: $option of $way with a letter too few is refused, and the error suggests the name',
    async (one) => {
      const wrong = one.option.slice(0, -1)
      const error = await refusal(() => through(one.road, { [wrong]: 7 }))
      expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option: expect.stringContaining(wrong) })
      expect(error).toHaveProperty('message', expect.stringContaining(`did you mean '${one.option}'?`))
      expect(error).toHaveProperty('accepted', expect.stringContaining(one.option))
      if (one.way.startsWith('load.')) await cache.delete('k')
      await expectNothingChanged()
    },
  )

  it.each(['constructor', 'toString', '__proto__'])(
    'does not exist by a name that every object has: %s',
    async (name) => {
      const options = Object.defineProperty({}, name, { value: 7, enumerable: true })
      const error = await refusal(() => cache.getOrSet('k', loader, options))
      expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option: `getOrSet.${name}`, value: 7 })
      await expectNothingChanged()
    },
  )

  it.each(cases)('$name: $option of $way that is undefined is not given', async ({ option, road }) => {
    const answer = await refusal(() => through(road, { [option]: undefined }))
    const required = ['key', 'cache'].includes(option)
    expect(isCattlegridError(answer, 'CATTLEGRID_INVALID_OPTION')).toBe(required)
    expect(answer === TAKEN).toBe(!required)
  })
})

const wholes: Record<string, Road> = {
  createCache,
  getOrSet: (options) => cache.getOrSet('k', loader, options),
  lookup: (options) => cache.lookup('k', loader, options),
  set: (options) => cache.set('k', 7, options),
  refresh: (options) => cache.refresh('k', loader, options),
  getOrSetMany: (options) => cache.getOrSetMany(['k'], () => new Map([['k', loader()]]), options),
  delete: (options) => cache.delete('kept', options),
  expire: (options) => cache.expire('kept', options),
  get: (options) => cache.get('k', options),
  getMany: (options) => cache.getMany(['k'], options),
  read: (options) => cache.read('k', options),
  wrap: (options) => cache.wrap(loader, options),
  close: (options) => cache.close(options),
  memoryStore,
  'load.keep': (options) => deciding((load) => load.keep(options)),
  'load.uncacheable': (options) => deciding((load) => load.uncacheable(options)),
  cachedMethod: (options) => cachedMethod(options),
}

describe('an options argument', () => {
  it.each(Object.entries(wholes))('of %s that is no object is refused', async (name, road) => {
    for (const value of [null, 7, '7s', true, ['7s'], () => ({})]) {
      const error = await refusal(() => through(road, value))
      expect(error).toMatchObject({ option: name, value, accepted: expect.stringMatching(/object with options: \w/) })
      if (name.startsWith('load.')) await cache.delete('k')
    }
    await expectNothingChanged()
  })

  it.each(['wrap', 'cachedMethod'])('of %s is required', async (name) => {
    const error = await refusal(() => through(wholes[name] ?? making, undefined))
    expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option: expect.stringContaining(name) })
  })

  it('whose every field is undefined leaves the defaults of the cache as they are', async () => {
    const none = Object.fromEntries(Object.keys(optionsTable['CallOptions'] ?? {}).map((name) => [name, undefined]))
    expect(await cache.lookup('k', loader, none)).toMatchObject({ status: 'loaded', freshFor: 60_000 })
  })
})

describe('options that do not fit together', () => {
  const misfits = [
    [{ lease: { duration: '6s', maxHold: '5s' } }, 'lease.maxHold', 'lease.duration (6000 ms)'],
    [{ lease: { maxHold: 4999 } }, 'lease.maxHold', 'lease.duration (5000 ms)'],
    [{ failureCooldown: { min: '2s', max: '1s' } }, 'failureCooldown.max', 'failureCooldown.min (2000 ms)'],
    [{ failureCooldown: { max: 99 } }, 'failureCooldown.max', 'failureCooldown.min (100 ms)'],
    // Only one of the two was given: it is the one to name.
    [{ failureCooldown: { min: '6s' } }, 'failureCooldown.min', 'failureCooldown.max (5000 ms)'],
    [{ onWaitTimeout: 'load' }, 'onWaitTimeout', 'maxLoads'],
    [{ earlyRefresh: { beta: 1, before: '1s' } }, 'earlyRefresh', 'not both'],
    [{ ttl: '5s', earlyRefresh: { before: '5s' } }, 'earlyRefresh.before', 'less than ttl (5000 ms)'],
  ] as const
  const roads = Object.entries({ createCache: making, ...calls })
  const pairs = misfits.flatMap(([options, ...told]) => roads.map(([way, road]) => ({ options, told, way, road })))

  it.each(pairs)('$options are refused by $way', async ({ options, told: [option, other], way, road }) => {
    const error = await refusal(() => through(road, options))
    expect(error).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option: `${way}.${option}` })
    expect(error).toHaveProperty('message', expect.stringContaining(other))
    await expectNothingChanged()
  })

  it("are refused when the other one is the cache's", async () => {
    cache = createCache({ store, runtime, ttl: '1m', lease: { maxHold: '7s' } })
    const error = await refusal(() => cache.getOrSet('k', loader, { lease: { duration: '8s' } }))
    expect(error).toMatchObject({ option: 'getOrSet.lease.duration', value: expect.anything() })
    cache = createCache({ store, runtime, ttl: '1m', earlyRefresh: { before: '7s' } })
    expect(await refusal(() => cache.getOrSet('k', loader, { ttl: '7s' }))).toMatchObject({ option: 'getOrSet.ttl' })
    await expectNothingChanged()
  })
})

describe('a missing ttl', () => {
  it.each(['getOrSet', 'lookup', 'refresh', 'getOrSetMany', 'set', 'wrap'])('is reported by %s', async (name) => {
    cache = createCache({ store, runtime, ttl: undefined })
    const options = name === 'wrap' ? { key: () => 'k' } : undefined
    const error = await refusal(() => through(wholes[name] ?? making, options))
    expect(error).toMatchObject({ option: 'ttl', accepted: expect.stringContaining("'30s'") })
    expect(loads).toBe(0)
    expect(await cache.get('k')).toBeUndefined()
  })
})
