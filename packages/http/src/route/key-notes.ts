import { BoundedMap, type Runtime } from '@cattlegrid/core/extend'
import { isNoSharedResult, NoSharedResult } from '../response/errors.ts'

/** The notes of one kind that are kept for one cache, at least. */
const KEPT = 1000
/** Of keys that are not stored there may be many more. */
const UNSTORED_KEPT = 10_000
const UNSTORED_FOR = 600_000
/** ms: a private response makes its key uncacheable for as long. */
const FAILED_FOR = 10_000

/** What a response says of its URL, and not of one request. */
const OF_URL = new Set(['no-freshness', 'no-store', 'private', 'no-cache'])

/** What the requests of a cache have learned of its keys in this process: of the latest keys of each kind. */
export class KeyNotes {
  /** The keys of which a response could have been stored in app mode, had it been of the key's own URL. */
  readonly declared: BoundedMap<string, string> = new BoundedMap(KEPT)
  readonly #runtime: Pick<Runtime, 'elapsed'>
  readonly #unstoredUntil = new BoundedMap<string, number>(UNSTORED_KEPT)
  readonly #failedUntil = new BoundedMap<string, number>(KEPT)
  /** The number of each key's latest release. */
  readonly #releases = new BoundedMap<string, number>(KEPT)
  #latestRelease = 0

  constructor(runtime: Pick<Runtime, 'elapsed'>) {
    this.#runtime = runtime
  }

  /** `why`: why the response of the key's latest leader is not stored; undefined: it is. */
  noteResponse(key: string, why: string | undefined): void {
    if (why !== undefined && OF_URL.has(why)) this.#unstoredUntil.set(key, this.#runtime.elapsed() + UNSTORED_FOR)
    else this.#unstoredUntil.delete(key)
  }

  /**
   * True if responses of the URL forbid storing, or declare no freshness: requests with conditions or a range
   * get from the handler what they get without a cache.
   */
  isUnstored(key: string): boolean {
    return (this.#unstoredUntil.get(key) ?? 0) > this.#runtime.elapsed()
  }

  /** The number of the latest release; later releases have greater numbers. */
  get latestRelease(): number {
    return this.#latestRelease
  }

  /**
   * The key's leader has no response for its followers: one that runs its own handler now reports
   * `collapsed=?0` (RFC 9211 section 2.6). Call it before they are released.
   */
  noteRelease(key: string): void {
    this.#latestRelease += 1
    this.#releases.set(key, this.#latestRelease)
  }

  /** True if the key was released after the release of that number. */
  isReleasedAfter(key: string, release: number): boolean {
    return (this.#releases.get(key) ?? 0) > release
  }

  /**
   * Sends a subrequest because the client's own handler cannot fill the entry: not after one that recently
   * brought nothing, so that one handler runs instead of two.
   *
   * @throws NoSharedResult where it brings no response to store, or is not sent.
   */
  async sendUnlessFailed<T>(key: string, send: () => Promise<T>): Promise<T> {
    if ((this.#failedUntil.get(key) ?? 0) > this.#runtime.elapsed())
      throw new NoSharedResult('nothing could be stored recently')
    return await send().catch((error: unknown) => {
      if (isNoSharedResult(error)) this.#failedUntil.set(key, this.#runtime.elapsed() + FAILED_FOR)
      throw error
    })
  }
}
