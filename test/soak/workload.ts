import type { Cache, Load, Loader } from '@cattlegrid/core'

const HOT = 40
const COLD = 5000
const TAGS = 30
const WORKERS = 48
/** So many calls of one worker, and the others have a turn. */
const BREATH = 20

/** How often each size comes, in a thousand, and how long it is. The last one is more than any entry may be. */
const SIZES: readonly (readonly [number, number])[] = [
  [900, 100],
  [85, 10_000],
  [14, 200_000],
  [1, 5_000_000],
]
const texts = new Map(SIZES.map(([, length]) => [length, 'x'.repeat(length)]))

const chance = (inThousand: number): boolean => Math.random() * 1000 < inThousand
const below = (count: number): number => Math.floor(Math.random() * count)
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Value {
  readonly key: string
  readonly text: string
}

function valueOf(key: string): Value {
  let left = below(1000)
  const size = SIZES.find(([share]) => (left -= share) < 0)
  return { key, text: texts.get(size?.[1] ?? 100) ?? '' }
}

type Act = (cache: Cache, key: string, work: Workload) => Promise<unknown>

/** What callers do, and how often in a thousand. What remains is `getOrSet` of a key that is hot. */
const ACTS: readonly (readonly [number, Act])[] = [
  [40, (cache, _, { loader }) => cache.getOrSet(`cold ${below(COLD)}`, loader)],
  [30, (cache, key, { loader }) => cache.getOrSet(key, loader, { tags: [`tag ${below(TAGS)}`], near: false })],
  [20, leave],
  [20, (cache, key, { loader }) => cache.lookup(key, loader, { staleWhileRevalidate: false })],
  [20, (cache, key) => cache.read(key)],
  [10, (cache, key) => cache.getMany([key, `cold ${below(COLD)}`])],
  [
    5,
    (cache, key) =>
      cache.getOrSetMany([key, `cold ${below(COLD)}`], (keys) => new Map(keys.map((one) => [one, valueOf(one)]))),
  ],
  [5, (cache, key) => cache.set(key, valueOf(key))],
  [3, (cache, key) => cache.delete(key)],
  [3, (cache, key) => cache.expire(key)],
  [2, (cache) => cache.invalidateTags([`tag ${below(TAGS)}`])],
  [2, (cache, key, { loader }) => cache.refresh(key, loader)],
  [1, (cache, key) => cache.inspect(key)],
]

/** A caller who does not stay for the answer. */
async function leave(cache: Cache, _key: string, { loader }: Workload): Promise<unknown> {
  const gone = new AbortController()
  const options = { signal: gone.signal, staleWhileRevalidate: false } as const
  const asking = cache.getOrSet(`cold ${below(COLD)}`, loader, options)
  setTimeout(() => gone.abort(), below(5))
  return await asking
}

/** Callers of several caches who ask, write and invalidate without a pause, with loaders that fail, hang and will not be cached. */
export class Workload {
  calls = 0
  loads = 0
  readonly errors: Record<string, number> = {}
  readonly #caches: readonly Cache[]
  #workers: Promise<void>[] = []
  #over = true

  constructor(caches: readonly Cache[]) {
    this.#caches = caches
  }

  start(): void {
    this.#over = false
    this.#workers = Array.from({ length: WORKERS }, () => this.#work())
  }

  async stop(): Promise<void> {
    this.#over = true
    await Promise.all(this.#workers)
  }

  readonly loader: Loader<Value> = async (load: Load<Value>) => {
    this.loads += 1
    await rest(below(10))
    if (chance(50)) throw Object.assign(new Error('The source fails'), { code: 'SOURCE' })
    if (chance(5))
      await new Promise((_, reject) => load.signal.addEventListener('abort', () => reject(load.signal.reason as Error)))
    if (chance(10)) load.uncacheable({ for: '50ms', share: chance(500) })
    return valueOf(load.key)
  }

  async #work(): Promise<void> {
    while (!this.#over) {
      for (let calls = 0; calls < BREATH; calls += 1) await this.#call()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async #call(): Promise<void> {
    const cache = this.#caches[this.calls % this.#caches.length]
    const key = `hot ${below(HOT)}`
    this.calls += 1
    let left = below(1000)
    const act = ACTS.find(([share]) => (left -= share) < 0)?.[1]
    if (cache === undefined) return
    try {
      await (act === undefined ? cache.getOrSet(key, this.loader) : act(cache, key, this))
    } catch (error) {
      const { code, name, message } = error as Error & { readonly code?: unknown }
      const label = typeof code === 'string' ? code : name === 'AbortError' ? name : `${name}: ${message}`
      this.errors[label] = (this.errors[label] ?? 0) + 1
    }
  }
}
