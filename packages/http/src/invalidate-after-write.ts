import { type Cache, isCattlegridError } from '@cattlegrid/core'
import { failureOf } from '@cattlegrid/core/extend'
import { warn } from './warnings.ts'

/**
 * The pauses between tries, ms: a store that is away for longer than their sum, about 10 minutes, is
 * given up.
 */
const PAUSES = [1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 180_000, 180_000]

/**
 * Invalidates tags after a write that can no longer fail. Resolves after the first try, and never rejects.
 * While the store is away, it tries again for about 10 minutes. A warning tells of tags that could not be
 * made or sent.
 *
 * @param write names the write in a warning.
 * @example
 * import { invalidateAfterWrite } from '@cattlegrid/http'
 *
 * await invalidateAfterWrite(cache, 'The import of products', () => ['products'])
 */
export async function invalidateAfterWrite(
  cache: Pick<Cache, 'invalidateTags' | 'runtime'>,
  write: string,
  makeTags: () => Iterable<string>,
): Promise<void> {
  let tags: readonly string[]
  try {
    tags = [...makeTags()]
  } catch (error) {
    return warnOf(write, 'the function that names its tags has failed', error)
  }
  await invalidate(cache, write, tags, PAUSES)
}

async function invalidate(
  cache: Pick<Cache, 'invalidateTags' | 'runtime'>,
  write: string,
  tags: readonly string[],
  [pause, ...pauses]: readonly number[],
): Promise<void> {
  try {
    await cache.invalidateTags(tags)
  } catch (error) {
    if (!isCattlegridError(error, 'CATTLEGRID_STORE_AWAY'))
      return warnOf(write, 'its tags cannot be invalidated', error)
    if (pause === undefined) return warnOf(write, 'the store has stayed away', error)
    // Each try emits the event of its failure.
    cache.runtime.schedule(() => void invalidate(cache, write, tags, pauses), pause)
  }
}

function warnOf(write: string, what: string, error: unknown): void {
  const { name, code = '' } = failureOf(error)
  warn(
    'CATTLEGRID_WRITE_NOT_INVALIDATED',
    `${write} is done, but ${what} (${`${name} ${code}`.trimEnd()}): what the cache holds of it stays to the end of its windows. ` +
      'Mend the tags, and invalidate them by cache.invalidateTags().',
  )
}
