import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BoundedMap } from '@cattlegrid/core/extend'
import { digestOf } from './digest.ts'
import { type HandedCache, isBuild, onFirstUse } from './handed-cache.ts'
import { Invalidations } from './invalidations.ts'
import { clock, type Found, HostClaims, milliseconds } from './host-claims.ts'

/** What Next stores: a page, a route, a `fetch`, a redirect or an image. */
export interface NextIsrValue {
  readonly kind: string
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  readonly revalidate?: number | false | undefined
  readonly tags?: readonly string[] | undefined
}

/** How long a page, a route or an image lasts, in seconds. */
export interface NextCacheControl {
  readonly revalidate: number | false
  readonly expire: number | undefined
}

/** The answer of `get`; `lastModified` in ms since the epoch. */
export interface NextIsrEntry {
  readonly lastModified: number
  readonly value: NextIsrValue | null
  readonly cacheControl?: NextCacheControl | undefined
}

/** What Next tells with a `get`. */
export interface NextIsrGetContext {
  readonly kind: string
  readonly revalidate?: number | false | undefined
  readonly tags?: readonly string[] | undefined
  readonly softTags?: readonly string[] | undefined
}

/** What Next tells with a `set`. */
export interface NextIsrSetContext {
  readonly fetchCache?: boolean | undefined
  readonly cacheControl?: NextCacheControl | undefined
  readonly tags?: readonly string[] | undefined
}

/** A `cacheHandler` of `next.config`, as Next 16 calls it: it makes one for each request. */
export interface NextIsrHandler {
  get: (key: string, context: NextIsrGetContext) => Promise<NextIsrEntry | null>
  set: (key: string, value: NextIsrValue | null, context: NextIsrSetContext) => Promise<void>
  revalidateTag: (tags: string | readonly string[], durations?: { expire?: number }) => Promise<void>
  resetRequestCache: () => void
}

/** What Next makes a handler from. */
export interface NextIsrHandlerContext {
  readonly serverDistDir?: string | undefined
}

interface StoredValue {
  readonly value: NextIsrValue | null
  readonly cacheControl: NextCacheControl | undefined
}

const TAGS_HEADER = 'x-next-cache-tags'
/** What Next takes for a page without a lifetime, in seconds. */
const DEFAULT_REVALIDATE = 1
/** Number of keys that a handler remembers. Next makes one for each request, and one for all images. */
const ASKED_KEPT = 1000

/**
 * Makes the class for `cacheHandler` in `next.config`: all processes of the store render a page or a route,
 * send a `fetch`, and resize an image once per expiry. Nothing is shared during `next build`.
 *
 * @param cache the cache, or a function that makes it. Next gives each entry its windows.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { nextIsrHandler } from '@cattlegrid/next'
 *
 * export default nextIsrHandler(() => createCache({ name: 'shop' }))
 */
export function nextIsrHandler(cache: HandedCache): new (context: NextIsrHandlerContext) => NextIsrHandler {
  const parts = onFirstUse(cache, (made) => ({
    claims: new HostClaims<StoredValue>(made, '', false),
    invalidations: Invalidations.of(made),
  }))
  return class IsrHandler implements NextIsrHandler {
    readonly #context: NextIsrHandlerContext
    /** Stands for this handler: what is remembered of an ask does not keep the request. */
    readonly #asker = {}
    readonly #asked = new BoundedMap<string, number>(ASKED_KEPT)

    constructor(context: NextIsrHandlerContext) {
      this.#context = context
    }

    async get(key: string, context: NextIsrGetContext): Promise<NextIsrEntry | null> {
      if (isBuild()) return null
      const storedKey = this.#keyOf(key, context.kind, context.tags)
      this.#asked.set(storedKey, clock())
      const found = await parts().claims.get(storedKey, context.softTags ?? [], this.#asker)
      if (found === undefined) return null
      const { value, cacheControl } = found.value
      noteServed(value)
      return { lastModified: lastModifiedOf(found, revalidateOf(found.value, context)), value, cacheControl }
    }

    async set(key: string, value: NextIsrValue | null, context: NextIsrSetContext): Promise<void> {
      // After a render that failed, Next stores the old value anew. Its lead ends with its hold instead.
      if (isBuild() || wasServed(value)) return
      const { cacheControl, fetchCache = false } = context
      const revalidate = fetchCache ? value?.revalidate : (cacheControl?.revalidate ?? DEFAULT_REVALIDATE)
      const ttl = milliseconds(revalidate)
      const staleFor = cacheControl?.expire === undefined ? Infinity : milliseconds(cacheControl.expire) - ttl
      const storedKey = this.#keyOf(key, fetchCache ? 'FETCH' : '', context.tags)
      const onDemand = this.#asked.get(storedKey) === undefined
      const handed = { value: { value, cacheControl }, ttl, staleFor, tags: tagsOf(value, context), onDemand }
      await parts().claims.set(storedKey, Promise.resolve(handed), this.#asker)
    }

    async revalidateTag(tags: string | readonly string[], durations?: { expire?: number }): Promise<void> {
      if (!isBuild()) await parts().invalidations.add([tags].flat(), durations)
    }

    resetRequestCache(): void {
      // Nothing is kept for a request.
    }

    /** A page belongs to its build. A `fetch` does not; its entry carries the tags of those who share it. */
    #keyOf(key: string, kind: string, tags: readonly string[] = []): string {
      if (kind !== 'FETCH') return `p:${buildIdOf(this.#context.serverDistDir)}:${key}`
      return `f:${digestOf(JSON.stringify(tags.toSorted()))}:${key}`
    }
  }
}

/** In seconds; false: it lasts until it is invalidated. */
function revalidateOf({ value, cacheControl }: StoredValue, { revalidate }: NextIsrGetContext): number | false {
  const seconds = [revalidate, value?.revalidate].find((given) => typeof given === 'number' && given > 0)
  return seconds ?? cacheControl?.revalidate ?? value?.revalidate ?? DEFAULT_REVALIDATE
}

/** The moment that makes Next do what the claim says: refresh what is stale, and nothing else. */
function lastModifiedOf({ age, refresh, goodFor }: Found<unknown>, revalidate: number | false): number {
  const now = clock()
  // It never becomes stale by its age: this makes Next render it before it answers.
  if (revalidate === false) return refresh ? -1 : now - age
  const untilStale = now - revalidate * 1000
  if (refresh) return Math.min(now - age, untilStale - 1)
  return Math.max(now - age, untilStale + goodFor)
}

function tagsOf(value: NextIsrValue | null, { tags = [] }: NextIsrSetContext): readonly string[] {
  const header = value?.headers?.[TAGS_HEADER]
  const ofPage = typeof header === 'string' ? header.split(',').filter((tag) => tag !== '') : []
  return [...ofPage, ...(value?.tags ?? []), ...tags]
}

/** The parts of values that `get` has returned: a new render has others. */
const served = new WeakSet()

function noteServed(value: NextIsrValue | null): void {
  for (const part of partsOf(value)) served.add(part)
}

function wasServed(value: NextIsrValue | null): boolean {
  return partsOf(value).some((part) => served.has(part))
}

function partsOf(value: NextIsrValue | null): readonly object[] {
  return value === null ? [] : Object.values(value).filter((part: unknown) => typeof part === 'object' && part !== null)
}

const buildIds = new Map<string, string>()

function buildIdOf(serverDistDir = ''): string {
  const known = buildIds.get(serverDistDir)
  if (known !== undefined) return known
  const id = readBuildId(serverDistDir)
  buildIds.set(serverDistDir, id)
  return id
}

/** Empty where there is none: in development. */
function readBuildId(serverDistDir: string): string {
  try {
    return readFileSync(join(serverDistDir, '..', 'BUILD_ID'), 'utf8').trim()
  } catch {
    return ''
  }
}
