import type { Cache, Runtime } from '@cattlegrid/core'
import { NoSharedResult, isNoSharedResult } from '../response/errors.ts'

/** As many keys as are remembered for one cache. */
const MOST_KEYS = 1000
/** As long as an answer that nobody else may have makes its key uncacheable, ms. */
const REMEMBERED = 10_000

/**
 * The keys for which a subrequest in the place of a client's own handler brought nothing to store, of late: a client that cannot lead, as of
 * `HEAD`, is better off with its own handler at once than with two runs. Nothing that anybody else goes by.
 */
export class FailedSubrequests {
  /** By `now()`, the oldest first. */
  readonly #since = new Map<string, number>()

  /** @throws HandOver where the subrequest brings nothing, or brought nothing of late and is not sent. */
  async skipOr<T>(key: string, runtime: Pick<Runtime, 'now'>, send: () => Promise<T>): Promise<T> {
    if (runtime.now() - (this.#since.get(key) ?? -Infinity) < REMEMBERED)
      throw new NoSharedResult('nothing could be stored of late')
    return await send().catch((error: unknown) => {
      if (isNoSharedResult(error)) this.#note(key, runtime.now())
      throw error
    })
  }

  #note(key: string, now: number): void {
    this.#since.delete(key)
    this.#since.set(key, now)
    if (this.#since.size > MOST_KEYS) this.#since.delete(this.#since.keys().next().value ?? '')
  }
}

const failedSubrequests = new WeakMap<Cache, FailedSubrequests>()

export function failedSubrequestsOf(cache: Cache): FailedSubrequests {
  const known = failedSubrequests.get(cache) ?? new FailedSubrequests()
  failedSubrequests.set(cache, known)
  return known
}
