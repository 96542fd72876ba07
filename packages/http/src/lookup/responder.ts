import { isCattlegridError, type Lookup } from '@cattlegrid/core'
import { type Answer, answerFromWithheld } from '../response/answer.ts'
import {
  type BypassReason,
  collapsedMember,
  type MaskedFailure,
  type Member,
  revalidatedMember,
  servedMember,
} from '../response/cache-status.ts'
import { ClientDisconnect } from './client-disconnect.ts'
import { isNoSharedResult, isResponseFailure, type ServeError } from '../response/errors.ts'
import type { Exchange } from '../exchange.ts'
import { isHeadSent } from '../fields/head-arguments.ts'
import { hitInStore } from './hit.ts'
import { ResponseLoader } from './response-loader.ts'
import { UNSHAREABLE_RESPONSE } from './load-result.ts'
import { unavailable, errorResponseFor } from '../response/error-response.ts'
import { bypass } from './bypass.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { Recorder } from '../capture/recorder.ts'
import type { RequestContext } from './request-context.ts'
import { type LookupResult, RequestLookup } from './request-lookup.ts'
import type { Route } from '../route/route.ts'
import { presentResponse, type ClientPreconditions, preconditionsOf } from './present.ts'
import { isSelectedBy } from '../response/vary.ts'

const ONLY_IF_CACHED_MISS: Answer = {
  status: 504,
  fields: { 'content-length': '0' },
  removed: [],
  body: Buffer.alloc(0),
}

/** Responds to one request that is no immediate hit: with what its lookup brings, or by its own handler. */
export class Responder<Req, Res> {
  readonly #exchange: Exchange<Req, Res>
  readonly #route: Route<Req, Res>
  readonly #context: RequestContext
  readonly #preconditions: ClientPreconditions
  readonly #disconnect: ClientDisconnect
  readonly #loader: ResponseLoader<Req, Res>
  readonly #lookup: RequestLookup<Req, Res>

  constructor(exchange: Exchange<Req, Res>, route: Route<Req, Res>, context: RequestContext) {
    this.#exchange = exchange
    this.#route = route
    this.#context = context
    this.#preconditions = preconditionsOf(exchange, route)
    this.#disconnect = new ClientDisconnect(exchange.res)
    this.#loader = new ResponseLoader(exchange, route, context)
    this.#lookup = new RequestLookup(exchange.req, route, context, this.#loader, this.#disconnect)
  }

  /** Never rejects. If anything fails here, the handler runs, or the connection closes. */
  async respond(): Promise<void> {
    const { res } = this.#exchange
    try {
      // RFC 9111 section 5.2.1.7.
      if (this.#context.directives.onlyIfCached) await this.#sendStored()
      else await this.#finish(await this.#lookup.run())
    } catch {
      if (this.#loader.recorder === undefined && !isHeadSent(res)) this.#exchange.pass()
      else res.destroy()
    } finally {
      // The handler may go on: its response is not withheld any more.
      this.#loader.recorder?.stopWithholding()
    }
  }

  async #sendStored(): Promise<void> {
    const { key, directives } = this.#context
    const hit = await hitInStore(this.#exchange, this.#route, key, directives.maxAge)
    // The timeout of an outer layer may have answered meanwhile.
    if (!isHeadSent(this.#exchange.res)) this.#exchange.send(hit ?? ONLY_IF_CACHED_MISS)
  }

  async #finish(result: LookupResult): Promise<void> {
    const { recorder } = this.#loader
    if (recorder !== undefined) return this.#finishLeader(recorder, result)
    this.#loader.finish()
    // The client has disconnected, or an outer layer's timeout has answered.
    if (this.#disconnect.aborted || isHeadSent(this.#exchange.res)) return undefined
    if (isNoSharedResult(result.error) || this.#runsAfter(result.error))
      return bypass(this.#exchange, this.#route, this.#bypassReason, this.#lookup.forwarded)
    return this.#sendShared(result)
  }

  /** A URL that has not proved cacheable costs its requests no error: the handler runs after a wait, too. */
  #runsAfter(error: unknown): boolean {
    const waited = this.#route.appMode && !this.#lookup.recordFound
    return this.#loader.outlastsLoad || (waited && isCattlegridError(error, 'CATTLEGRID_WAIT_TIMEOUT'))
  }

  /** Why this request, which got no shared response, runs its own handler. */
  get #bypassReason(): BypassReason {
    return this.#context.unshareable ?? (this.#loader.subrequestFailed ? 'head' : 'collapsed')
  }

  #sendShared({ lookup, error }: LookupResult): void {
    const exchange = this.#exchange
    const isForThisClient = (response: RecordedResponse): boolean =>
      isSelectedBy(response.selectedBy, exchange.req.headers)
    if (lookup !== undefined && lookup.value !== UNSHAREABLE_RESPONSE && isForThisClient(lookup.value))
      return exchange.send(this.#presentEntry(lookup))
    if (isResponseFailure(error) && error.response !== undefined && isForThisClient(error.response))
      return exchange.send(this.#present(error.response, collapsedMember(this.#lookup.forwarded)))
    const failure = errorResponseFor(error)
    if (failure === undefined && error === undefined) bypass(exchange, this.#route, 'collapsed', this.#lookup.forwarded)
    // An error that makes no ServeError gives no reason that `Cache-Status` could name.
    else if (failure === undefined) exchange.pass()
    else this.#fail(failure)
  }

  #fail(failure: ServeError): void {
    const { request, response } = this.#exchange
    if (!this.#route.handlesError(failure, request, response)) this.#exchange.fail(failure)
  }

  /** This request's own handler has run, or still runs. Another response is sent only where the handler has sent nothing. */
  async #finishLeader(recorder: Recorder, { lookup, error }: LookupResult): Promise<void> {
    const exchange = this.#exchange
    await lookup?.refresh
    await this.#loader.clearUncacheable(lookup?.outcome)
    const revalidated = recorder.revalidated
    // An outer layer has answered, and the recorder did not see it.
    if (!recorder.passed && isHeadSent(exchange.res)) return
    if (this.#loader.outlastsLoad) return
    if (revalidated !== undefined) exchange.send(this.#present(revalidated, revalidatedMember(lookup)))
    else if (recorder.passed) {
      if (isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT') && !recorder.ended) exchange.res.destroy()
    } else if (this.#disconnect.aborted) return
    else if (lookup !== undefined && lookup.status !== 'loaded') exchange.send(this.#presentEntry(lookup, recorder))
    else if (lookup !== undefined && recorder.mismatched && lookup.value !== UNSHAREABLE_RESPONSE)
      exchange.send(this.#present(lookup.value, revalidatedMember(lookup, 200)))
    else if (recorder.withheld !== undefined) exchange.send(answerFromWithheld(recorder.withheld))
    else this.#finishUnanswered(recorder, error)
  }

  #finishUnanswered(recorder: Recorder, error: unknown): void {
    const timedOut = isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT')
    // Otherwise the cache was closed, or the lease was lost: the handler did not fail, and continues.
    if (timedOut || recorder.status !== undefined)
      this.#exchange.fail(errorResponseFor(error) ?? unavailable('CATTLEGRID_LOAD_FAILED', 1000))
  }

  #presentEntry(lookup: Lookup<RecordedResponse>, masked?: MaskedFailure): Answer {
    return this.#present(lookup.value, servedMember(lookup, this.#lookup.forwarded, masked), lookup.age, lookup.waited)
  }

  #present(response: RecordedResponse, member: Member, residentTime: number = 0, waited: number = 0): Answer {
    return presentResponse(this.#exchange, this.#route, response, this.#preconditions, {
      residentTime,
      waited,
      member: () => member,
    })
  }
}
