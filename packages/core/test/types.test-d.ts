// Compiled, never run: what users write must infer, and what is wrong must not compile.
import {
  type ByteSize,
  type Cache,
  type CacheEvent,
  type CacheOptions,
  type CallOptions,
  type Codec,
  createCache,
  type Duration,
  type EventName,
  isCattlegridError,
  json,
  type Load,
  type LoadFailedError,
  type Loader,
  type Lookup,
  memoryStore,
  type Outcome,
  raw,
  type SetOptions,
  structured,
} from '@cattlegrid/core'
import { cachedMethod } from '@cattlegrid/core/decorator'

/** Compiles only when the two are the very same type: `unknown` and `any` are the same as themselves alone. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(verdict: Same<A, B>): void {
  void verdict
}

interface Product {
  readonly id: string
  readonly stock: number
}

declare const cache: Cache
declare const product: Product
declare function find(id: string): Promise<Product>

// A loader, whether it reads its context or not
const plain = cache.getOrSet('k', () => product)
same<typeof plain, Promise<Product>>(true)
const promised = cache.getOrSet('k', () => find('7'))
same<typeof promised, Promise<Product>>(true)
const withContext = cache.getOrSet('k', async (load) => {
  same<typeof load.signal, AbortSignal>(true)
  same<typeof load.key, string>(true)
  return await find(load.key)
})
same<typeof withContext, Promise<Product>>(true)
const deciding = cache.getOrSet('k', (load) => {
  load.keep({ ttl: '1m', staleIfError: 1000, tags: ['product:7'] })
  load.uncacheable()
  load.uncacheable({ for: '10s', share: false })
  return load.background ? null : product
})
same<typeof deciding, Promise<Product | null>>(true)
const nothing = cache.getOrSet('k', () => undefined)
same<typeof nothing, Promise<undefined>>(true)

// The stale value has the type of the value, where the loader says so
const merging = cache.getOrSet('k', async (load: Load<Product>) => {
  same<typeof load.stale, { readonly value: Product; readonly age: number } | undefined>(true)
  return load.stale?.value ?? (await find('7'))
})
same<typeof merging, Promise<Product>>(true)
const typed = cache.getOrSet<Product>('k', (load) => load.stale?.value ?? find('7'))
same<typeof typed, Promise<Product>>(true)
export const loader: Loader<Product> = ({ stale, key }) => stale?.value ?? find(key)
const named = cache.getOrSet('k', loader, { ttl: '1m' })
same<typeof named, Promise<Product>>(true)
// @ts-expect-error the loader brings another type
void cache.getOrSet<Product>('k', () => 'a product')
// @ts-expect-error a loader is a function
void cache.getOrSet('k', product)
// @ts-expect-error a key is a string
void cache.getOrSet(7, () => product)

// A codec never decides what the value is
const coded = cache.getOrSet('k', () => product, { codec: json })
same<typeof coded, Promise<Product>>(true)
const cloned = cache.getOrSet('k', async (load) => new Map([[load.key, 1n]]), { codec: structured })
same<typeof cloned, Promise<Map<string, bigint>>>(true)
const bytes = cache.getOrSet('k', (): Uint8Array => Buffer.from('bytes'), { codec: raw })
same<typeof bytes, Promise<Uint8Array>>(true)
const buffer = cache.getOrSet('k', () => Buffer.from('bytes'), { codec: raw })
same<typeof buffer, Promise<Buffer<ArrayBuffer>>>(true)
void cache.getOrSet('k', async (load) => Buffer.from(load.key), { codec: raw })
void cache.set('k', Buffer.from('bytes'), { codec: raw })
// @ts-expect-error bytes only
void cache.set('k', 'text', { codec: raw })
declare const productCodec: Codec<Product>
const own = cache.getOrSet('k', () => product, { codec: productCodec })
same<typeof own, Promise<Product>>(true)
// @ts-expect-error the codec is for products
void cache.getOrSet('k', () => 7, { codec: productCodec })
// @ts-expect-error bytes only
void cache.getOrSet('k', () => product, { codec: raw })
void cache.set('k', product, { codec: productCodec })
// @ts-expect-error the codec is for products
void cache.set('k', 7, { codec: productCodec })

// Reading says what it expects, or takes what is unknown
const unknown = cache.get('k')
same<typeof unknown, Promise<unknown>>(true)
const known = cache.get<Product>('k', { stale: true })
same<typeof known, Promise<Product | undefined>>(true)
const decoded = cache.get('k', { codec: productCodec })
same<typeof decoded, Promise<Product | undefined>>(true)
const many = cache.getMany<Product>(['k'])
const written = cache.setMany(new Map([['k', 7]]), { ttl: '1s' })
same<typeof written, Promise<void>>(true)
// @ts-expect-error: a Map
void cache.setMany({ k: 7 })
const gone = cache.deleteMany(['k'], { holdOff: '1s' })
same<typeof gone, Promise<void>>(true)
// @ts-expect-error: a list of keys
void cache.deleteMany('k')
same<typeof many, Promise<Map<string, Product>>>(true)
export async function reading(): Promise<readonly ['fresh' | 'stale', Product] | undefined> {
  const found = await cache.read<Product>('k')
  return found === undefined ? undefined : [found.state, found.value]
}

// Many keys at once
const loaded = cache.getOrSetMany(['a', 'b'], async (missing, load) => {
  same<typeof missing, readonly string[]>(true)
  same<typeof load.signal, AbortSignal>(true)
  load.keep('a', { ttl: '1s' })
  return new Map(await Promise.all(missing.map(async (id) => [id, await find(id)] as const)))
})
same<typeof loaded, Promise<Map<string, Product>>>(true)
// @ts-expect-error a Map, so that a missing key and an undefined differ
void cache.getOrSetMany(['a'], () => ({ a: product }))

// lookup and refresh
const lookup = cache.lookup('k', async (load) => await find(load.key))
same<typeof lookup, Promise<Lookup<Product>>>(true)
const refreshed = cache.refresh('k', async (load) => await find(load.key))
same<typeof refreshed, Promise<Product>>(true)
export function told(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'committed':
      return outcome.kind
    case 'failed':
      return `${outcome.kind}, ${outcome.cooldown} ms`
    case 'uncacheable':
      return outcome.share ? 'shared' : 'alone'
    case 'refused':
    case 'abandoned':
      return outcome.why
  }
}

// A wrapped function keeps its parameters, and promises its result
const wrapped = cache.wrap(find, { key: (id) => `product:${id}`, ttl: '1m' })
same<typeof wrapped, (id: string) => Promise<Product>>(true)
const both = cache.wrap((id: number, locale?: string) => `${id} ${locale}`, {
  key: (id, locale = 'en') => {
    same<typeof id, number>(true)
    same<typeof locale, string>(true)
    return `${id}:${locale}`
  },
})
same<typeof both, (id: number, locale?: string) => Promise<string>>(true)
// @ts-expect-error a string
void wrapped(7)
// @ts-expect-error every wrapped function needs a key
cache.wrap(find, { ttl: '1m' })
// @ts-expect-error a key is a string
cache.wrap(find, { key: () => 7 })
// @ts-expect-error the codec is for products
cache.wrap(() => 7, { key: () => 'k', codec: productCodec })

// Events have the type of their name
const off = cache.on('load-failed', (event) => {
  same<typeof event, CacheEvent<'load-failed'>>(true)
  same<typeof event.type, 'load-failed'>(true)
  same<typeof event.cooldown, number>(true)
})
same<typeof off, () => void>(true)
cache.on('outcome', ({ outcome, took }) => void [told(outcome), took.toFixed()])
export const ttlOf = (event: CacheEvent): number => (event.type === 'commit' ? event.ttl : 0)
// @ts-expect-error no such event
cache.on('comitted', () => {})
// @ts-expect-error a commit has no cooldown
cache.on('commit', ({ cooldown }) => void cooldown)
export const everyName: readonly EventName[] = ['hit', 'miss', 'commit', 'lease-lost', 'observer-failed']

// Errors are narrowed by their brand
export function codeOf(error: unknown): string {
  if (!isCattlegridError(error, 'CATTLEGRID_LOAD_FAILED')) return 'foreign'
  same<typeof error, LoadFailedError>(true)
  return `${error.code} ${error.retryAfter}`
}
// @ts-expect-error no such code
isCattlegridError(undefined, 'CATTLEGRID_LOAD_FALIED')

// Durations and sizes carry their unit
export const durations: readonly Duration[] = [250, '250ms', '1.5s', '30m', '2h', '1d']
export const sizes: readonly ByteSize[] = [1024, '512b', '64kb', '16mb', '1gb']
// @ts-expect-error no unit
export const unitless: Duration = '30'
// @ts-expect-error no unit of ours
export const weeks: Duration = '3w'
// @ts-expect-error a time is no size
export const timeAsSize: ByteSize = '30s'

// Options: undefined is not given; what is unknown or of a wrong type is refused
export const cacheOptions: CacheOptions = {
  store: memoryStore({ maxEntries: 1000, maxBytes: '64mb', sizeOf: (value) => JSON.stringify(value).length }),
  codec: raw,
  ttl: undefined,
  softTimeout: false,
  earlyRefresh: { beta: 1 },
  lease: { duration: '5s', maxHold: undefined },
  isFailure: (error) => error instanceof Error,
}
export const callOptions: CallOptions<Product> = { codec: json, staleIfError: false, signal: undefined, tags: ['a'] }
export const setOptions: SetOptions = { ttl: '1m', codec: structured, jitter: 0.1 }
createCache()
createCache(cacheOptions)
// @ts-expect-error a misspelt name
createCache({ tll: '30s' })
// @ts-expect-error a wrong unit
createCache({ ttl: '30 parsecs' })
// @ts-expect-error a cache always takes stale values: only a call may refuse them
createCache({ staleWhileRevalidate: false })
// @ts-expect-error null is no value of an option
createCache({ ttl: null })
// @ts-expect-error a stricter call has no tags of a text
void cache.getOrSet('k', () => product, { tags: 'product:7' })
// @ts-expect-error a set has no loader to time out
void cache.set('k', product, { loadTimeout: '1s' })
// @ts-expect-error a text is no boolean
void cache.get('k', { stale: 'yes' })
// @ts-expect-error no such option
void cache.delete('k', { holdoff: '1s' })
// @ts-expect-error seconds are no unit of close
void cache.close({ drain: '5 seconds' })
// @ts-expect-error bytes need their unit in a text
memoryStore({ maxBytes: '64' })

// The decorator keeps the method's type, and asks for the key of its parameters
export class Products {
  readonly own: Cache = cache
  @cachedMethod({ cache, key: (id: string) => `product:${id}`, ttl: '1m' })
  async find(id: string): Promise<Product> {
    return await find(id)
  }
  @cachedMethod({ cache: (self: Products) => self.own, key: (id: string, locale: string) => `${id}:${locale}` })
  async name(id: string, locale: string): Promise<string> {
    return `${id} ${locale}`
  }
  // @ts-expect-error the key function takes a number
  @cachedMethod({ cache, key: (id: number) => `product:${id}` })
  async stock(id: string): Promise<number> {
    return (await find(id)).stock
  }
  // @ts-expect-error a cached method returns a promise
  @cachedMethod({ cache, key: (id: string) => `product:${id}` })
  sync(id: string): string {
    return id
  }
}
same<Products['find'], (id: string) => Promise<Product>>(true)
