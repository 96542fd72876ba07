import { setTimeout as sleep } from 'node:timers/promises'

/** Of each of ours: the same app without a cache, and what is wanted: the rate of hits against that app, and refreshes per second of server CPU. */
export const GOALS: Readonly<
  Record<string, { readonly bare: string; readonly hit: number; readonly refreshes: number }>
> = {
  'Express, cattlegrid': { bare: 'Express, sends a string', hit: 1.2, refreshes: 2400 },
  'Fastify, cattlegrid': { bare: 'Fastify, sends a string', hit: 0.9, refreshes: 4000 },
}
export const OURS: readonly string[] = Object.keys(GOALS)

/** How the handlers behind the caches behave. */
export interface OriginTraits {
  /** Before an answer at first, ms. */
  readonly loadTime: number
  readonly fails: boolean
  /** Of what the caches keep, ms. */
  readonly ttl: number
  readonly stale: number
  /** Whether each answer is its client's alone. Default: false. */
  readonly isPrivate?: boolean
  readonly redis: string | undefined
  readonly namespace: string
}

const ITEM = { id: 1, name: 'a product of the shop', price: 1999, tags: ['one', 'two'], inStock: true }

/** What is answered: about 10 KB of JSON, as a value and as the text of it. */
export const thing: object = { items: Array.from({ length: 110 }, (_, id) => ({ ...ITEM, id })) }
export const text: string = JSON.stringify(thing)
export const JSON_TYPE = 'application/json; charset=utf-8'

/** The work behind a route, counted. */
export class Origin {
  runs = 0
  /** Before an answer, ms. */
  loadTime: number
  readonly traits: OriginTraits

  constructor(traits: OriginTraits) {
    this.traits = traits
    this.loadTime = traits.loadTime
  }

  /** What the caches in other programs go by; ours, too, where it forbids them to keep anything. */
  get cacheControl(): string {
    const { ttl, stale, isPrivate } = this.traits
    if (isPrivate === true) return 'private'
    return `public, max-age=${Math.ceil(ttl / 1000)}, stale-while-revalidate=${Math.ceil(stale / 1000)}`
  }

  /** Resolves when the answer is ready; false: it is an error. */
  async run(): Promise<boolean> {
    this.runs += 1
    if (this.loadTime > 0) await sleep(this.loadTime)
    return !this.traits.fails
  }
}
