import type { ByteSize } from '@cattlegrid/core'
import { checkOptions, type OptionRules, rule } from '@cattlegrid/core/extend'
import { chunksOf, streamOf } from './chunks.ts'
import { type HandedCache, isBuild, onFirstUse } from './handed-cache.ts'
import { Invalidations } from './invalidations.ts'
import { clock, type Found, type Handed, HostClaims, isRemembered, milliseconds, type Refused } from './host-claims.ts'

/** The options of `nextCacheHandler`. */
export interface NextCacheHandlerOptions {
  /** The most bytes of a value. A larger one is not stored: each request renders it. Default: `'32mb'`. */
  readonly maxBytes?: ByteSize | undefined
}

/** An entry of Next's `cacheHandlers`; durations in seconds, `timestamp` in ms since the epoch. */
export interface NextCacheEntry {
  value: ReadableStream<Uint8Array>
  tags: string[]
  stale: number
  timestamp: number
  expire: number
  revalidate: number
}

/** A handler of `cacheHandlers` in `next.config`, as Next 16 calls it. */
export interface NextCacheHandler {
  get: (cacheKey: string, softTags: string[]) => Promise<NextCacheEntry | undefined>
  set: (cacheKey: string, pendingEntry: Promise<NextCacheEntry>) => Promise<void>
  refreshTags: () => Promise<void>
  getExpiration: (tags: string[]) => Promise<number>
  updateTags: (tags: string[], durations?: { expire?: number }) => Promise<void>
}

interface StoredEntry extends Omit<NextCacheEntry, 'value' | 'timestamp'> {
  readonly chunks: readonly Uint8Array[]
}

const rules = { maxBytes: rule.byteSize(1) } satisfies OptionRules<NextCacheHandlerOptions>

const DEFAULT_MAX_BYTES = 32 * 1024 ** 2

/**
 * Makes the handler of `'use cache'` for `cacheHandlers` in `next.config`: all processes of the store render
 * an entry once per expiry, and see each other's invalidations. Nothing is shared during `next build`.
 *
 * @param cache the cache, or a function that makes it. Next gives each entry its windows.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { nextCacheHandler } from '@cattlegrid/next'
 *
 * export default nextCacheHandler(() => createCache({ name: 'shop' }))
 * @throws InvalidOptionError for an option that is unknown, or has a value it cannot have.
 */
export function nextCacheHandler(cache: HandedCache, options: NextCacheHandlerOptions = {}): NextCacheHandler {
  const { maxBytes = DEFAULT_MAX_BYTES } = checkOptions('nextCacheHandler', options, rules)
  const parts = onFirstUse(cache, (made) => ({
    claims: new HostClaims<StoredEntry>(made, 'u:', true),
    invalidations: Invalidations.of(made),
  }))
  const asker = {}
  return {
    async get(cacheKey, softTags) {
      const found = isBuild() ? undefined : await parts().claims.get(cacheKey, softTags, asker)
      return found && entryOf(found)
    },
    async set(cacheKey, pendingEntry) {
      if (isBuild()) await (await pendingEntry).value.cancel()
      else await parts().claims.set(cacheKey, handedOf(pendingEntry, maxBytes), asker)
    },
    async refreshTags() {
      // Each `get` asks what was invalidated.
    },
    // `get` judges the tags of the path.
    getExpiration: () => Promise.resolve(Infinity),
    async updateTags(tags, durations) {
      if (!isBuild()) await parts().invalidations.add(tags, durations)
    },
  }
}

async function handedOf(pending: Promise<NextCacheEntry>, maxBytes: number): Promise<Handed<StoredEntry> | Refused> {
  try {
    const { value, timestamp: begunAt, ...entry } = await pending
    if (entry.expire <= 0) {
      await value.cancel()
      return { refused: 'dynamic', begunAt }
    }
    const chunks = await chunksOf(value, maxBytes)
    if (chunks === undefined) return { refused: 'too-large', begunAt }
    const ttl = milliseconds(entry.revalidate)
    const windows = { ttl, staleFor: milliseconds(entry.expire) - ttl, tags: entry.tags }
    return { value: { ...entry, chunks }, ...windows, begunAt, onDemand: isRemembered(begunAt) }
  } catch {
    // Next has the error, and shows it to those who render.
    return { refused: 'failed' }
  }
}

function entryOf(found: Found<StoredEntry>): NextCacheEntry {
  const { chunks, ...entry } = found.value
  const revalidate = revalidateOf(found, entry.revalidate)
  return { ...entry, revalidate, timestamp: clock() - found.age, value: streamOf(chunks) }
}

/**
 * What makes Next do what the claim says: refresh an entry that is past `revalidate`, and no other. In
 * seconds.
 */
function revalidateOf({ age, refresh, goodFor }: Found<unknown>, revalidate: number): number {
  if (refresh) return age > revalidate * 1000 ? revalidate : -1
  return Math.max(revalidate, Math.ceil((age + goodFor) / 1000))
}
