import type { Cache, Runtime } from '@cattlegrid/core'
import { LRUCache } from 'lru-cache'
import { NoSharedResult, isNoSharedResult } from '../response/errors.ts'

/** Keys remembered for one cache. */
const MAX_KEYS = 1000
/** ms: as long as a private response keeps its key uncacheable. */
const REMEMBERED = 10_000

/**
 * The keys for which a subrequest in the place of a client's own handler recently brought nothing to store. A client that cannot lead, such
 * as one of `HEAD`, then runs its own handler at once: one run instead of two. No other request is affected.
 */
export class FailedSubrequests {
  /** When the latest failed, by `now()`. */
  readonly #failedAt = new LRUCache<string, number>({ max: MAX_KEYS })

  /** @throws NoSharedResult where the subrequest brings nothing, or brought nothing recently and is not sent. */
  async skipOr<T>(key: string, runtime: Pick<Runtime, 'now'>, send: () => Promise<T>): Promise<T> {
    if (runtime.now() - (this.#failedAt.get(key) ?? -Infinity) < REMEMBERED)
      throw new NoSharedResult('nothing could be stored recently')
    return await send().catch((error: unknown) => {
      if (isNoSharedResult(error)) this.#failedAt.set(key, runtime.now())
      throw error
    })
  }
}

const failedSubrequests = new WeakMap<Cache, FailedSubrequests>()

export function failedSubrequestsOf(cache: Cache): FailedSubrequests {
  const known = failedSubrequests.get(cache) ?? new FailedSubrequests()
  failedSubrequests.set(cache, known)
  return known
}
