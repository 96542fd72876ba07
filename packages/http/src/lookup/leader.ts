import type { CallOptions, Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { failedSubrequestsOf } from './failed-subrequests.ts'
import { NoSharedResult, isNoSharedResult } from '../response/errors.ts'
import type { Exchange } from '../exchange.ts'
import { runHandler } from './handler-run.ts'
import {
  keepResponse,
  type LoadResult,
  resultOfHandler,
  type ResponseLoad,
  type StorableResult,
  uncacheableFor,
  varyRecordTtl,
} from './load-result.ts'
import { registerLoad } from '../request/loop-detection.ts'
import { refetch, refreshBySubrequest } from './refresh-by-subrequest.ts'
import type { RecordedResponse, Stored } from '../response/recorded-response.ts'
import type { Recorder } from '../capture/recorder.ts'
import type { RequestContext } from './request-context.ts'
import { type ReleasedKeys, releasedKeysOf } from './released-keys.ts'
import type { Route } from '../route/route.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

/** The loads of one request: they run its own handler at most once, whichever key leads to it. */
export class Leader<Req, Res> {
  readonly #exchange: Exchange<Req, Res>
  readonly #route: Route<Req, Res>
  readonly #context: RequestContext
  readonly #options: CallOptions<Stored>
  readonly #releasedKeys: ReleasedKeys
  /** The latest release when the request came. */
  readonly #release: number
  #token: string | undefined
  #subrequestFailed = false
  #storableKey: string | undefined
  #recorder: Recorder | undefined
  #onHandlerStart: (() => void) | undefined
  /** The request has its result: its handler may not run any more. */
  finished = false
  /** The request waited for a record of variants, and none of them is its own. */
  collapseFailed = false

  constructor(
    exchange: Exchange<Req, Res>,
    route: Route<Req, Res>,
    context: RequestContext,
    options: CallOptions<Stored>,
  ) {
    this.#exchange = exchange
    this.#route = route
    this.#context = context
    this.#options = options
    this.#releasedKeys = releasedKeysOf(route.cache)
    this.#release = this.#releasedKeys.latest
  }

  /** Records the request's own handler; undefined until that runs. */
  get recorder(): Recorder | undefined {
    return this.#recorder
  }

  /** The request's own handler runs or has run, and its response is for this client. A 304 about another response is for nobody. */
  get hasResponse(): boolean {
    return this.#recorder !== undefined && !this.#recorder.outdated
  }

  /** The key for which the handler gave a response that can be stored. */
  get storableKey(): string | undefined {
    return this.#storableKey
  }

  /** A subrequest in the place of the request's own handler brought no response. */
  get subrequestFailed(): boolean {
    return this.#subrequestFailed
  }

  /** Resolves once the request's own handler runs; for one wait at a time. */
  handlerStarted(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#recorder === undefined) this.#onHandlerStart = resolve
      else resolve()
    })
  }

  /**
   * Loads the URL's own key, or with `record` that of a variant. That a URL varies is learned from its response, by a nested lookup: the
   * variant has a lease of its own, and is committed before the record that makes it reachable.
   */
  async load(load: Load<never>, record?: VaryRecord): Promise<Stored> {
    const unregister = registerLoad(this.#loopName, this.#context.key)
    const { result, headers } = await this.#withinLimit(load, () => this.#produce(load, record))
      .finally(unregister)
      .catch((error: unknown) => {
        if (isNoSharedResult(error)) this.#noteRelease(load)
        throw error
      })
    if (!('kind' in result)) return result
    this.#storableKey = load.key
    const { revalidate, keyed } = this.#route
    const names = result.vary.filter((name) => !keyed.headers.includes(name))
    if (record !== undefined) return this.#keepVariant(load, result, names, record)
    if (names.length === 0) return keepResponse(load, result, revalidate)
    return this.#keepRecord(load, result, names, headers)
  }

  /** Commits the response as the first variant of a new record, and returns the record. */
  async #keepRecord(
    load: Load<never>,
    result: StorableResult,
    names: readonly string[],
    headers: IncomingHttpHeaders,
  ): Promise<VaryRecord> {
    const { cache, runtime, revalidate } = this.#route
    const { lifetime } = result
    const record = { vary: names, id: runtime.token() }
    const key = variantKey(this.#context.key, record, headers)
    this.#countVariant(record, key)
    await cache.lookup<Stored, never>(key, (inner) => keepResponse(inner, result, revalidate), this.#options)
    load.keep({ ttl: varyRecordTtl(lifetime), staleWhileRevalidate: 0, staleIfError: 0, tags: lifetime.tags })
    return record
  }

  /** Where the variant depends on a field that its record does not name, the record is deleted: the next request learns it anew. */
  async #keepVariant(
    load: Load<never>,
    result: StorableResult,
    names: readonly string[],
    record: VaryRecord,
  ): Promise<RecordedResponse> {
    if (names.some((name) => !record.vary.includes(name))) {
      await this.#route.cache.delete(this.#context.key).catch(() => undefined)
      throw new NoSharedResult('it varies by a field that its record does not name')
    }
    this.#countVariant(record, load.key)
    return keepResponse(load, result, this.#route.revalidate)
  }

  #countVariant(record: VaryRecord, key: string): void {
    const { variants, maxVariants, cache } = this.#route
    const oldest = variants.add(record, key, maxVariants)
    if (oldest !== undefined) cache.delete(oldest).catch(() => undefined)
  }

  async #withinLimit<T>(load: Load<never>, produce: () => Promise<T>): Promise<T> {
    const { handlerLimit } = this.#route
    if (handlerLimit === undefined) return await produce()
    if (load.background && handlerLimit.full) throw new NoSharedResult('the route runs as many handlers as it may')
    const release = await handlerLimit.acquire(load.signal)
    return await produce().finally(release)
  }

  async #produce(load: Load<never>, record: VaryRecord | undefined): Promise<LoadResult> {
    const run = { load, record, loopName: this.#loopName }
    const { background } = load
    if (background && !this.#route.refreshMode.inline) return await this.#sendSubrequest(run)
    if (background && (this.finished || this.#cannotRun)) throw new NoSharedResult('its client cannot run the handler')
    if (this.hasResponse || this.#subrequestFailed) throw new NoSharedResult('the request has led a load before')
    return this.#cannotRun ? await this.#replaceHandler(run) : await this.#runHandler(run)
  }

  async #runHandler({ load, record, loopName }: ResponseLoad): Promise<LoadResult> {
    const { req, request, response } = this.#exchange
    const collapseFailed = this.collapseFailed || this.#releasedKeys.releasedAfter(load.key, this.#release)
    const run = { load, record, loopName, collapseFailed }
    const recorded = await runHandler(this.#exchange, this.#route, this.#context, run, (recorder) => {
      this.#recorder = recorder
      this.#onHandlerStart?.()
    })
    if (recorded.kind === 'outdated')
      return await this.#noteFailure(refetch(this.#exchange, this.#route, this.#context, run))
    // Nothing shows yet that responses of this URL can be shared: an aborted one must not start a cooldown.
    const abortUnshareable = load.stale === undefined && this.#route.ttl(request, response) === undefined
    if (uncacheableFor(recorded, abortUnshareable) > 0) this.#noteRelease(load)
    return { result: resultOfHandler(recorded, load, req.headers, abortUnshareable), headers: req.headers }
  }

  /** The handler of a `HEAD` request gives no body: a subrequest brings the response that can be stored. */
  async #replaceHandler(run: ResponseLoad): Promise<LoadResult> {
    if (this.#context.unshareable) throw new NoSharedResult('its handler sees more than the key holds')
    const { cache, runtime } = this.#route
    const send = (): Promise<LoadResult> => this.#sendSubrequest(run)
    return await this.#noteFailure(failedSubrequestsOf(cache).skipOr(run.load.key, runtime, send))
  }

  async #noteFailure(replaced: Promise<LoadResult>): Promise<LoadResult> {
    try {
      return await replaced
    } catch (error) {
      this.#subrequestFailed = true
      throw error
    }
  }

  #sendSubrequest(run: ResponseLoad): Promise<LoadResult> {
    return refreshBySubrequest(this.#exchange, this.#route, this.#context, run)
  }

  /** Noted before the followers are released. A load without a lease has none. */
  #noteRelease({ key, leased }: Load<never>): void {
    if (leased) this.#releasedKeys.note(key)
  }

  get #cannotRun(): boolean {
    return this.#context.unshareable || this.#exchange.req.method === 'HEAD' || this.#recorder !== undefined
  }

  /** Made on the first load: most requests have none. */
  get #loopName(): string {
    this.#token ??= this.#route.runtime.token()
    return this.#token
  }
}
