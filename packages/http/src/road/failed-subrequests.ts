import type { Cache } from '@cattlegrid/core'
import { type Runtime, BoundedMap } from '@cattlegrid/core/extend'
import { NoSharedResult, isNoSharedResult } from '../response/errors.ts'
import { perCache } from '../route/per-cache.ts'

/** Keys remembered for one cache, at least. */
const KEYS_KEPT = 1000
/** ms: a private response makes its key uncacheable for as long. */
const REMEMBERED = 10_000

/**
 * The keys for which a subrequest, sent because the client's own handler cannot fill the entry, recently
 * brought no response to store. Such a client, for example one of `HEAD`, then runs its own handler at once:
 * one run instead of two.
 */
export class FailedSubrequests {
  /** The time of the latest failure, by `now()`. */
  readonly #failedAt = new BoundedMap<string, number>(KEYS_KEPT)

  /**
   * @throws NoSharedResult where the subrequest brings no response to store, or brought none recently and is
   * not sent.
   */
  async sendUnlessFailed<T>(key: string, runtime: Pick<Runtime, 'elapsed'>, send: () => Promise<T>): Promise<T> {
    if (runtime.elapsed() - (this.#failedAt.get(key) ?? -Infinity) < REMEMBERED)
      throw new NoSharedResult('nothing could be stored recently')
    return await send().catch((error: unknown) => {
      if (isNoSharedResult(error)) this.#failedAt.set(key, runtime.elapsed())
      throw error
    })
  }
}

export const failedSubrequestsOf: (cache: Cache) => FailedSubrequests = perCache(
  'failed-subrequests/1',
  () => new FailedSubrequests(),
)
