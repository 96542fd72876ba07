import * as fc from 'fast-check'

/** One call, and the calls that its loader makes if it runs. The holder of a lead makes none: they could wait for it. */
export interface Plan {
  readonly verb: 'getOrSet' | 'lookup' | 'await refresh' | 'getOrSetMany' | 'refresh' | 'claim'
  /** Added to the greatest key around the call. */
  readonly steps: readonly number[]
  readonly strict: boolean
  /** Through a view with a limit of its own. */
  readonly limited: boolean
  readonly tagged: boolean
  readonly signal: number | undefined
  readonly took: number
  readonly ending: 'value' | 'unkept' | 'uncacheable' | 'unshareable' | 'error'
  readonly inner: readonly Plan[]
}

export interface Outer extends Plan {
  readonly at: number
  readonly process: 0 | 1
}

export const READS = ['get', 'read', 'getMany', 'peek', 'inspect'] as const
export const WRITES = [
  'delete',
  'deleteMany',
  'expire',
  'invalidateTags',
  'expireTags',
  'clear',
  'set',
  'set with a tag',
] as const

/** A call of a verb that loads nothing. */
export interface Step {
  readonly verb: (typeof READS)[number] | (typeof WRITES)[number]
  readonly key: number
  readonly at: number
  readonly process: 0 | 1 | 2
}

export interface Scenario {
  readonly maxLoads: number | 'auto'
  readonly maxWaiters: number
  readonly cyclic: boolean
  readonly swr: boolean
  readonly calls: readonly Outer[]
  readonly steps: readonly Step[]
  readonly aborts: readonly number[]
  /** The times that the store's answers take, in turn, ms. */
  readonly delays: readonly number[]
}

export const KEYS = 6
export const SIGNALS = 2

/** The tag of a key's tagged values. */
export function tagOf(key: number): string {
  return `t${key % 2}`
}

const plan = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    verb: fc.constantFrom<Plan['verb'][]>('getOrSet', 'lookup', 'await refresh', 'getOrSetMany', 'refresh', 'claim'),
    steps: fc.uniqueArray(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 }),
    strict: fc.boolean(),
    limited: fc.boolean(),
    tagged: fc.boolean(),
    signal: fc.option(fc.nat({ max: SIGNALS - 1 }), { nil: undefined, freq: 4 }),
    took: fc.nat({ max: 20 }),
    ending: fc.constantFrom<Plan['ending'][]>(
      'value',
      'value',
      'value',
      'unkept',
      'uncacheable',
      'unshareable',
      'error',
    ),
    inner: depth === 0 ? fc.constant([]) : fc.array(plan(depth - 1), { maxLength: 2 }),
  })

const outer: fc.Arbitrary<Outer> = fc
  .tuple(plan(2), fc.nat({ max: 30 }), fc.constantFrom(0 as const, 1 as const))
  .map(([call, at, process]) => ({ ...call, at, process }))

const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom<Step['verb'][]>(...READS, ...WRITES),
  key: fc.nat({ max: KEYS - 1 }),
  at: fc.nat({ max: 60 }),
  process: fc.constantFrom<Step['process'][]>(0, 1, 2),
})

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  maxLoads: fc.constantFrom<Scenario['maxLoads'][]>(1, 1, 2, 1000, 'auto'),
  maxWaiters: fc.constantFrom(4, 8, 10_000),
  cyclic: fc.boolean(),
  swr: fc.boolean(),
  calls: fc.array(outer, { minLength: 1, maxLength: 8 }),
  steps: fc.array(step, { maxLength: 8 }),
  aborts: fc.array(fc.nat({ max: 60 }), { minLength: SIGNALS, maxLength: SIGNALS }),
  delays: fc.array(fc.nat({ max: 8 }), { minLength: 1, maxLength: 12 }),
})
