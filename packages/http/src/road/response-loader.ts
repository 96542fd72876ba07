import type { IncomingHttpHeaders } from 'node:http'
import { isCattlegridError, type Load, type UncacheableOptions } from '@cattlegrid/core'
import { onAbort } from '@cattlegrid/core/extend'
import { auditOfLoad, compareAudited } from '../audit/audited-load.ts'
import { NoSharedResult, isNoSharedResult } from '../response/errors.ts'
import { runHandler, seesKeyedUrl } from './handler-run.ts'
import { HandlerTimes } from './handler-times.ts'
import { keepAtKey } from './keep-at-key.ts'
import { type Loaded, type LoadResult, resultOfHandler, type LoadTask } from './loaded-response.ts'
import { isKnownShareable, type Miss } from './miss.ts'
import { copyUnreported } from '../request/watched-fields.ts'
import { registerLoad } from '../request/loop-detection.ts'
import { SubrequestLoader } from './subrequest-loader.ts'
import type { Recorder } from '../recorder/recorder.ts'
import type { RecordingResult } from '../recorder/recording-result.ts'
import type { RequestContext } from './admission.ts'

/** The request's own handler. At most one load runs it, and none after the request has its result. */
type OwnHandler =
  | { readonly kind: 'not-started'; readonly onStart: (() => void) | undefined }
  | { readonly kind: 'started'; readonly recorder: Recorder }
  /** No load may run it. */
  | { readonly kind: 'no-load' }

/** A load that brought a response which can be stored. */
interface StorableLoad {
  readonly key: string
  /** How long the response stays fresh, ms. */
  readonly ttl: number
}

/** The loads of one request: they run its own handler at most once, whichever key leads to it. */
export class ResponseLoader {
  /** The times of the request's own handler. */
  readonly times: HandlerTimes
  readonly #context: RequestContext
  readonly #subrequests: SubrequestLoader
  readonly #unkeyedUrl: boolean
  /** The latest release of any key when the request came. */
  readonly #releaseAtStart: number
  #subrequestFailed = false
  #storable: StorableLoad | undefined
  #handler: OwnHandler = { kind: 'not-started', onStart: undefined }
  #timedOutBeforeKnown = false
  #unshareable: RequestContext['unshareable']

  constructor(context: RequestContext) {
    const { route } = context
    this.#context = context
    this.#unshareable = context.unshareable
    this.times = new HandlerTimes(route.runtime)
    this.#subrequests = new SubrequestLoader(context)
    this.#unkeyedUrl = !seesKeyedUrl(context)
    this.#releaseAtStart = route.notes.latestRelease
  }

  /** Records the request's own handler; undefined until that runs. */
  get recorder(): Recorder | undefined {
    return this.#handler.kind === 'started' ? this.#handler.recorder : undefined
  }

  /** The own handler answers this client. False for a 304 that does not match the stored response. */
  get ownHandlerAnswers(): boolean {
    return this.#handler.kind === 'started' && !this.#handler.recorder.mismatched
  }

  /** A load reached `loadTimeout` before the URL was known to be shareable: the own handler answers. */
  get timedOutBeforeKnown(): boolean {
    return this.#timedOutBeforeKnown
  }

  /** The load that brought a response which can be stored. */
  get storable(): StorableLoad | undefined {
    return this.#storable
  }

  /** No load may run this request's own handler any more. */
  get cannotRecord(): boolean {
    return this.#handler.kind === 'no-load'
  }

  /** A subrequest in the place of the request's own handler brought no response. */
  get subrequestFailed(): boolean {
    return this.#subrequestFailed
  }

  /** Why the own handler's response goes to its own client only; undefined: others may get it. */
  get unshareable(): RequestContext['unshareable'] {
    return this.#unshareable
  }

  /** Fields that select the response. If the handler could see two values of one, it is not shared. */
  selectBy(names: readonly string[]): void {
    this.#unshareable ??= this.#context.exchange.ambiguityIn(names)
  }

  /** An outer layer has answered: the request's own handler must not run. */
  get isAnswered(): boolean {
    return this.#context.exchange.isAnswered
  }

  /** True if a lookup may refresh a stale response. In inline mode only where the own handler can fill it. */
  get canRefresh(): boolean {
    return !(this.#context.route.refreshMode.inline && this.#handlerCannotFill)
  }

  /** Resolves once the request's own handler runs; for one wait at a time. */
  whenHandlerStarts(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#handler.kind === 'not-started') this.#handler = { kind: 'not-started', onStart: resolve }
      else resolve()
    })
  }

  /** The request has its result, and its handler has not run: from now on no load may run it. */
  keepHandlerFromLoads(): void {
    this.#handler = { kind: 'no-load' }
  }

  /** Loads the URL's own key, or that of a variant. That a URL varies is learned from its response. */
  async load(load: Load<never>, miss: Miss): Promise<Loaded> {
    const { route, key } = this.#context
    const { record } = miss
    // An id of its own: the end of one load of the request must not end the loop detection of another.
    const loadId = route.runtime.token()
    const unregister = registerLoad(loadId, key)
    const task = this.#task(load, loadId, miss)
    let produced: LoadResult
    try {
      produced = await this.#produce(task)
    } catch (error) {
      if (isNoSharedResult(error)) this.#noteRelease(load)
      throw error
    } finally {
      unregister()
    }
    const { result, requestFields } = produced
    const why = result.kind === 'uncacheable' ? result.options.why : undefined
    route.notes.noteResponse(key, why)
    if (result.kind === 'uncacheable') {
      this.#makeUncacheable(load, result.options)
      return result.value
    }
    this.#storable = { key: load.key, ttl: result.lifetime.ttl }
    return keepAtKey(route, key, load, result, record, requestFields)
  }

  #task(load: Load<never>, loadId: string, { record, forwarded, collapseFailed }: Miss): LoadTask {
    return {
      load,
      loadId,
      record,
      forwarded: load.stale === undefined ? forwarded : 'stale',
      collapseFailed: collapseFailed || this.#context.route.notes.isReleasedAfter(load.key, this.#releaseAtStart),
      times: this.times,
      unkeyedUrl: this.#unkeyedUrl,
    }
  }

  /** May throw synchronously: `load` awaits the result. */
  #produce(task: LoadTask): Promise<LoadResult> {
    const { load } = task
    if (!isKnownShareable(this.#context.route, task.forwarded)) onAbort(load, (reason) => this.#onStop(load, reason))
    // The load of a request that has its result goes on for the entry, and for the requests that joined.
    const isBehind = load.background || this.#handler.kind === 'no-load'
    return isBehind ? this.#produceBehind(task) : this.#produceByRequest(task)
  }

  #produceBehind(task: LoadTask): Promise<LoadResult> {
    if (!this.#context.route.refreshMode.inline) return this.#subrequests.load(task)
    if (this.#handlerCannotFill) throw new NoSharedResult('the handler of the request cannot fill the entry')
    return this.#produceByRequest(task)
  }

  #produceByRequest(task: LoadTask): Promise<LoadResult> {
    if (this.ownHandlerAnswers || this.#subrequestFailed) throw new NoSharedResult('the request has led a load before')
    if (this.isAnswered) throw new NoSharedResult('the request has been answered meanwhile')
    if (this.#handlerCannotLead) return this.#replaceHandler(task)
    return this.#unkeyedUrl ? this.#leadByKeyedUrl(task) : this.#runHandler(task)
  }

  /**
   * Sends a subrequest for the URL of the key. If that brings nothing, and in app mode before a response of
   * the URL has shown that it can be stored, the request's own handler responds to its own client.
   */
  async #leadByKeyedUrl(task: LoadTask): Promise<LoadResult> {
    const { key, unkeyedCredentials, route } = this.#context
    const { declared } = route.notes
    const isShareable = isKnownShareable(route, task.forwarded) || declared.get(key) !== undefined
    if (isShareable && !unkeyedCredentials) {
      const result = await this.#subrequests.loadUnlessFailed(task).catch(ignoreNoResult)
      if (result !== undefined) return result
      if (this.isAnswered || task.load.signal.aborted || this.#handler.kind !== 'not-started')
        throw new NoSharedResult('the request has its result meanwhile')
    }
    const own = await this.#runHandler(task)
    if (isShareable || own.result.kind !== 'uncacheable' || own.result.options.why !== 'unkeyed-url') return own
    // One of the requests that wait sends a subrequest.
    declared.set(key, key)
    throw new NoSharedResult('the response of another URL shows that one of this URL can be stored')
  }

  async #runHandler(task: LoadTask): Promise<LoadResult> {
    const audit = auditOfLoad(this.#context, task, this.#subrequests)
    const { recording, requestFields } = this.#recordHandler(audit === undefined ? task : { ...task, audited: true })
    const recorded = await (audit === undefined ? recording : compareAudited(audit, recording))
    if (recorded.kind === 'mismatched')
      return await this.#noteSubrequestFailure(this.#subrequests.replaceMismatched(task))
    const knownShareable = isKnownShareable(this.#context.route, task.forwarded)
    return { result: resultOfHandler(recorded, requestFields, knownShareable), requestFields }
  }

  /** `requestFields`: those that the handler gets. A layer inside may change them. */
  #recordHandler(task: LoadTask): {
    readonly recording: Promise<RecordingResult>
    readonly requestFields: IncomingHttpHeaders
  } {
    let requestFields: IncomingHttpHeaders = {}
    const noteStart = (recorder: Recorder): void => {
      requestFields = copyUnreported(this.#context.exchange.headers)
      const onStart = this.#handler.kind === 'not-started' ? this.#handler.onStart : undefined
      this.#handler = { kind: 'started', recorder }
      onStart?.()
    }
    try {
      const recording = runHandler(this.#context, task, noteStart)
      return { recording, requestFields }
    } catch (error) {
      if (this.recorder !== undefined) throw error
      // The cache has failed before the handler: that runs without it.
      this.#handler = { kind: 'no-load' }
      throw new NoSharedResult(`the handler cannot be recorded: ${String(error)}`)
    }
  }

  /** At `loadTimeout`, a URL not known as shareable becomes uncacheable: each handler runs for its client. */
  #onStop(load: Load<never>, reason: unknown): void {
    if (!isCattlegridError(reason, 'CATTLEGRID_LOAD_TIMEOUT')) return
    this.#makeUncacheable(load, { share: false, why: 'timeout' })
    this.#timedOutBeforeKnown = true
    this.recorder?.markUnshareable('timeout')
  }

  /** The handler cannot fill the entry, as for `HEAD`: a subrequest brings a response to store. */
  #replaceHandler(task: LoadTask): Promise<LoadResult> {
    if (this.#unshareable !== undefined) throw new NoSharedResult('the handler sees more than the key holds')
    return this.#noteSubrequestFailure(this.#subrequests.loadUnlessFailed(task))
  }

  async #noteSubrequestFailure(loading: Promise<LoadResult>): Promise<LoadResult> {
    try {
      return await loading
    } catch (error) {
      this.#subrequestFailed = true
      throw error
    }
  }

  #makeUncacheable(load: Load<never>, options: UncacheableOptions): void {
    if (options.share === false) this.#noteRelease(load)
    load.uncacheable(options)
  }

  /** Call it before core releases those that joined. Only leased loads are noted. */
  #noteRelease({ key, leased }: Load<never>): void {
    if (leased) this.#context.route.notes.noteRelease(key)
  }

  /** True if the own handler cannot fill the entry: it cannot lead, or saw another URL than the key's. */
  get #handlerCannotFill(): boolean {
    return this.#unkeyedUrl || this.#handlerCannotLead
  }

  /** True if it has started or no load may run it, its response is not shared, or it answers `HEAD`. */
  get #handlerCannotLead(): boolean {
    if (this.#unshareable !== undefined || this.#handler.kind !== 'not-started') return true
    return this.#context.exchange.method === 'HEAD'
  }
}

function ignoreNoResult(error: unknown): undefined {
  if (!isNoSharedResult(error)) throw error
}
