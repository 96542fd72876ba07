import { type CallOptions, isCattlegridError, type Load, type Lookup } from '@cattlegrid/core'
import { type Answer, answerFromWithheld } from '../response/answer.ts'
import {
  type BypassReason,
  type Member,
  revalidatedMember,
  servedMember,
  type MaskedFailure,
} from '../response/cache-status.ts'
import { ClientDisconnect } from './client-disconnect.ts'
import {
  NoSharedResult,
  isNoSharedResult,
  isResponseFailure,
  ResponseFailure,
  type ServeError,
} from '../response/errors.ts'
import type { Exchange } from '../exchange.ts'
import { isHeadSent } from '../fields/head-arguments.ts'
import { hitInStore } from './hit.ts'
import { Leader } from './leader.ts'
import { UNSHAREABLE_RESPONSE } from './load-result.ts'
import { unavailable, errorResponseFor } from '../response/error-response.ts'
import { bypass } from './bypass.ts'
import { isUsable, isVaryRecord, type RecordedResponse, type Stored } from '../response/recorded-response.ts'
import type { Recorder } from '../capture/recorder.ts'
import type { RequestContext } from './request-context.ts'
import type { Route } from '../route/route.ts'
import { presentResponse, type ClientPreconditions, preconditionsOf } from './present.ts'
import { isSelectedBy, variantKey } from '../response/vary.ts'

/** A request that still has no response after so many lookups runs its own handler. */
const MAX_LOOKUPS = 16
const ONLY_IF_CACHED_MISS: Answer = {
  status: 504,
  fields: { 'content-length': '0' },
  removed: [],
  body: Buffer.alloc(0),
}

interface LookupAttempt {
  readonly lookup?: Lookup<RecordedResponse>
  readonly error?: unknown
}

/** One request that is no immediate hit: looks up its key, leads a load where it must, and sends the response. */
export class CachedRequest<Req, Res> {
  readonly #exchange: Exchange<Req, Res>
  readonly #route: Route<Req, Res>
  readonly #context: RequestContext
  readonly #preconditions: ClientPreconditions
  readonly #disconnect: ClientDisconnect
  readonly #options: CallOptions<Stored>
  readonly #leader: Leader<Req, Res>

  constructor(exchange: Exchange<Req, Res>, route: Route<Req, Res>, context: RequestContext) {
    this.#exchange = exchange
    this.#route = route
    this.#context = context
    this.#preconditions = preconditionsOf(exchange, route)
    this.#disconnect = new ClientDisconnect(exchange.res)
    this.#options = { signal: this.#disconnect, maxAge: context.demand.maxAge }
    this.#leader = new Leader(exchange, route, context, route.callOptions)
  }

  /** Never rejects. If anything fails here, the handler runs, or the connection closes. */
  async run(): Promise<void> {
    const { res } = this.#exchange
    try {
      // RFC 9111 section 5.2.1.7.
      if (this.#context.demand.onlyIfCached) await this.#sendStored()
      else await this.#finish(await this.#lookupUntilSettled())
    } catch {
      if (this.#leader.recorder === undefined && !isHeadSent(res)) this.#exchange.pass()
      else res.destroy()
    } finally {
      // The handler may go on: its response is not withheld any more.
      this.#leader.recorder?.stopWithholding()
    }
  }

  async #sendStored(): Promise<void> {
    const { key, demand } = this.#context
    const hit = await hitInStore(this.#exchange, this.#route, key, demand.maxAge)
    // The timeout of an outer layer may have answered meanwhile.
    if (!isHeadSent(this.#exchange.res)) this.#exchange.send(hit ?? ONLY_IF_CACHED_MISS)
  }

  /** Looks up again when the leader had no result for its followers: one of them leads next. */
  async #lookupUntilSettled(): Promise<LookupAttempt> {
    for (let lookups = 1; ; lookups += 1) {
      try {
        return { lookup: await this.#lookup() }
      } catch (error) {
        const { hasResponse, subrequestFailed } = this.#leader
        const final = hasResponse || subrequestFailed || this.#context.unshareable || lookups === MAX_LOOKUPS
        if (final || !isNoSharedResult(error)) return { error }
      }
    }
  }

  /** Looks up the key of the URL; where that holds a record of variants, the key of this request's variant. */
  async #lookup(): Promise<Lookup<RecordedResponse>> {
    const { key } = this.#context
    const ofUrl = await this.#lookupAt(key, (load) => this.#leader.load(load))
    const { value } = ofUrl
    if (!isVaryRecord(value)) return ofUrl as Lookup<RecordedResponse>
    // The handler's own response goes to this client; the record serves other requests only.
    if (this.#leader.hasResponse) return { ...ofUrl, value: UNSHAREABLE_RESPONSE }
    this.#leader.collapseFailed = ofUrl.role === 'follower'
    const variant = variantKey(key, value, this.#exchange.req.headers)
    const ofVariant = await this.#lookupAt(variant, (load) => this.#leader.load(load, value))
    // The leader that wrote the record loaded this variant, too.
    const collapsed = ofUrl.status === 'loaded' && ofVariant.status === 'fresh'
    return {
      ...ofVariant,
      value: ofVariant.value as RecordedResponse,
      ...(collapsed ? ({ status: 'loaded', role: 'follower' } as const) : {}),
      waited: ofUrl.waited + ofVariant.waited,
    }
  }

  async #lookupAt(key: string, loader: (load: Load<never>) => Promise<Stored>): Promise<Lookup<Stored>> {
    const { view, refreshMode, inlineRefreshes } = this.#route
    const lookup = await whenUsable(await view.lookup<Stored, never>(key, loader, this.#options))
    const { status, refresh: refreshing } = lookup
    if (!refreshMode.inline || status !== 'stale' || refreshing === undefined || inlineRefreshes.has(key)) return lookup
    inlineRefreshes.add(key)
    // The first request that gets the stale response refreshes it with its own handler, whose recorder `#finish` must find.
    await Promise.race([this.#leader.handlerStarted(), refreshing])
    if (this.#leader.recorder === undefined) inlineRefreshes.delete(key)
    else void refreshing.then(() => inlineRefreshes.delete(key))
    return lookup
  }

  async #finish(result: LookupAttempt): Promise<void> {
    const { recorder } = this.#leader
    if (recorder !== undefined) return this.#finishLeader(recorder, result)
    this.#leader.finished = true
    // The client has disconnected, or an outer layer's timeout has answered.
    if (this.#disconnect.aborted || isHeadSent(this.#exchange.res)) return undefined
    if (isNoSharedResult(result.error)) return bypass(this.#exchange, this.#route, this.#reason)
    return this.#sendShared(result)
  }

  /** Why this request, which got no shared response, runs its own handler. */
  get #reason(): BypassReason {
    if (this.#context.unshareable) return 'body'
    return this.#leader.subrequestFailed ? 'head' : 'collapsed'
  }

  #sendShared({ lookup, error }: LookupAttempt): void {
    const exchange = this.#exchange
    const isForThisClient = (response: RecordedResponse): boolean =>
      isSelectedBy(response.selectedBy, exchange.req.headers)
    if (lookup !== undefined && lookup.value !== UNSHAREABLE_RESPONSE && isForThisClient(lookup.value))
      return exchange.send(this.#presentEntry(lookup))
    if (isResponseFailure(error) && error.response !== undefined && isForThisClient(error.response))
      return exchange.send(this.#present(error.response, 'fwd=uri-miss; collapsed'))
    const failure = errorResponseFor(error)
    if (failure === undefined && error === undefined) bypass(exchange, this.#route, 'collapsed')
    else if (failure === undefined) exchange.pass()
    else this.#fail(failure)
  }

  #fail(failure: ServeError): void {
    const { request, response } = this.#exchange
    if (!this.#route.handlesError(failure, request, response)) this.#exchange.fail(failure)
  }

  /** This request's own handler has run, or still runs. Another response is sent only where the handler has sent nothing. */
  async #finishLeader(recorder: Recorder, { lookup, error }: LookupAttempt): Promise<void> {
    const exchange = this.#exchange
    await lookup?.refresh
    await this.#clearUncacheable(lookup)
    const revalidated = recorder.revalidated
    // An outer layer has answered, and the recorder did not see it.
    if (!recorder.passed && isHeadSent(exchange.res)) return
    if (revalidated !== undefined) exchange.send(this.#present(revalidated, revalidatedMember(lookup)))
    else if (recorder.passed) {
      if (isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT') && !recorder.ended) exchange.res.destroy()
    } else if (this.#disconnect.aborted) return
    else if (lookup !== undefined && lookup.status !== 'loaded') exchange.send(this.#presentEntry(lookup, recorder))
    else if (lookup !== undefined && recorder.outdated && lookup.value !== UNSHAREABLE_RESPONSE)
      exchange.send(this.#present(lookup.value, revalidatedMember(lookup, 200)))
    else if (recorder.withheld !== undefined) exchange.send(answerFromWithheld(recorder.withheld))
    else this.#finishUnanswered(recorder, error)
  }

  /**
   * Makes an uncacheable key cacheable again after a load without a lease brought a response that can be stored: the next request leads. Not
   * where another process leads, or has stored a response meanwhile.
   */
  async #clearUncacheable(lookup: LookupAttempt['lookup']): Promise<void> {
    const { storableKey } = this.#leader
    const { cache, callOptions } = this.#route
    const unleased = lookup?.outcome?.kind === 'abandoned' && lookup.outcome.why === 'unleased'
    // With `onWaitTimeout: 'load'` another caller may hold the lease.
    if (storableKey === undefined || !unleased || callOptions.onWaitTimeout === 'load') return
    const found = await cache.inspect(storableKey).catch(() => undefined)
    if (found?.state === 'missing' && found.lease === null) await cache.delete(storableKey).catch(() => undefined)
  }

  #finishUnanswered(recorder: Recorder, error: unknown): void {
    const timedOut = isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT')
    // Otherwise the cache was closed, or the lease was lost: the handler did not fail, and continues.
    if (timedOut || recorder.status !== undefined)
      this.#exchange.fail(errorResponseFor(error) ?? unavailable('CATTLEGRID_LOAD_FAILED', 1000))
  }

  #presentEntry(lookup: Lookup<RecordedResponse>, masked?: MaskedFailure): Answer {
    return this.#present(lookup.value, servedMember(lookup, masked), lookup.age, lookup.waited)
  }

  #present(response: RecordedResponse, member: Member, residentTime: number = 0, waited: number = 0): Answer {
    return presentResponse(this.#exchange, this.#route, response, this.#preconditions, {
      residentTime,
      waited,
      member: () => member,
    })
  }
}

/**
 * Returns a lookup whose response may be served. For a response that is kept only to be revalidated, it waits for the load that replaces it.
 *
 * @throws NoSharedResult after that load, so that the caller looks up again; ResponseFailure where no load runs.
 */
async function whenUsable(lookup: Lookup<Stored>): Promise<Lookup<Stored>> {
  const { value, status, role, age, refresh } = lookup
  if (isVaryRecord(value) || isUsable(value, age)) return lookup
  // This request's own handler has just sent or revalidated it.
  if (status === 'loaded' && role === 'leader') return lookup
  if (status === 'stale' && refresh === undefined) throw new ResponseFailure(503, undefined)
  await refresh
  throw new NoSharedResult('the stored response may not be used')
}
