import { type CallOptions, isCattlegridError, type Load, type Lookup } from '@cattlegrid/core'
import { type Answer, answerFromWithheld } from '../response/answer.ts'
import { type Member, revalidatedMember, servedMember, type MaskedFailure } from '../response/cache-status.ts'
import { ClientDisconnect } from './client-disconnect.ts'
import {
  NoSharedResult,
  isNoSharedResult,
  isResponseFailure,
  ResponseFailure,
  type ServeError,
} from '../response/errors.ts'
import type { Exchange } from '../exchange.ts'
import { hitInStore } from './hit.ts'
import { Leader } from './leader.ts'
import { PRIVATE_RESPONSE } from './load-result.ts'
import { unavailable, errorResponseFor } from '../response/error-response.ts'
import { bypass } from './bypass.ts'
import { isUsable, isVaryRecord, type RecordedResponse, type Stored } from '../response/recorded-response.ts'
import type { Recorder } from '../capture/recorder.ts'
import type { RequestContext } from './request-context.ts'
import type { Route } from '../route/route.ts'
import { presentResponse, type ClientPreconditions, preconditionsOf } from './present.ts'
import { isChosenBy, variantKey } from '../response/vary.ts'

/** Each election that a request loses costs another one its client: that many in a row are no accident, and it runs alone. */
const MAX_ELECTIONS = 16
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

/** One request on its way through the cache. */
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

  /** Never rejects: whatever goes wrong in here, the request gets an answer. */
  async run(): Promise<void> {
    const { res } = this.#exchange
    try {
      // RFC 9111 section 5.2.1.7.
      if (this.#context.demand.onlyIfCached) await this.#sendStored()
      else await this.#finish(await this.#lookupUntilSettled())
    } catch {
      if (this.#leader.recorder === undefined && !res.headersSent) this.#exchange.pass()
      else res.destroy()
    } finally {
      this.#leader.recorder?.dispose()
    }
  }

  async #sendStored(): Promise<void> {
    this.#exchange.send((await hitInStore(this.#exchange, this.#route, this.#context.key)) ?? ONLY_IF_CACHED_MISS)
  }

  /** Looks again when a leader had nothing for its followers: one of them leads then. */
  async #lookupUntilSettled(): Promise<LookupAttempt> {
    for (let elections = 1; ; elections += 1) {
      try {
        return { lookup: await this.#lookup() }
      } catch (error) {
        const { recorder, handedOver } = this.#leader
        const final = recorder !== undefined || handedOver || this.#context.unshareable || elections === MAX_ELECTIONS
        if (final || !isNoSharedResult(error)) return { error }
      }
    }
  }

  /** Asks at the key of the URL; where a record of variants stands there, at that of its own variant. */
  async #lookup(): Promise<Lookup<RecordedResponse>> {
    const { key } = this.#context
    const first = await this.#lookupAt(key, (load) => this.#leader.load(load))
    const { value } = first
    if (!isVaryRecord(value)) return first as Lookup<RecordedResponse>
    // Its own handler has answered: the record is for the others.
    if (this.#leader.recorder !== undefined) return { ...first, value: PRIVATE_RESPONSE }
    this.#leader.collapseFailed = first.role === 'follower'
    const variant = variantKey(key, value, this.#exchange.req.headers)
    const second = await this.#lookupAt(variant, (load) => this.#leader.load(load, value))
    const collapsed = first.status === 'loaded' && second.status === 'fresh'
    return {
      ...second,
      value: second.value as RecordedResponse,
      ...(collapsed ? ({ status: 'loaded', role: 'follower' } as const) : {}),
      waited: first.waited + second.waited,
    }
  }

  async #lookupAt(key: string, loader: (load: Load<never>) => Promise<Stored>): Promise<Lookup<Stored>> {
    const { view, refresh, inlineRefreshes } = this.#route
    const lookup = await whenUsable(await view.lookup<Stored, never>(key, loader, this.#options))
    const { status, refresh: refreshing } = lookup
    if (refresh !== 'inline' || status !== 'stale' || refreshing === undefined || inlineRefreshes.has(key))
      return lookup
    inlineRefreshes.add(key)
    await Promise.race([this.#leader.handlerStarted(), refreshing])
    if (this.#leader.recorder === undefined) inlineRefreshes.delete(key)
    else void refreshing.then(() => inlineRefreshes.delete(key))
    return lookup
  }

  async #finish(result: LookupAttempt): Promise<void> {
    const { recorder } = this.#leader
    if (recorder !== undefined) return this.#finishLead(recorder, result)
    this.#leader.finished = true
    // Its client has left, or a layer outside lost its patience and answered.
    if (this.#disconnect.aborted || this.#exchange.res.headersSent) return undefined
    if (isNoSharedResult(result.error))
      return bypass(this.#exchange, this.#route, this.#context.unshareable ? 'body' : 'head')
    return this.#answer(result)
  }

  #answer({ lookup, error }: LookupAttempt): void {
    const exchange = this.#exchange
    const mine = (response: RecordedResponse): boolean => isChosenBy(response.chosenBy, exchange.req.headers)
    if (lookup !== undefined && lookup.value !== PRIVATE_RESPONSE && mine(lookup.value))
      return exchange.send(this.#served(lookup))
    if (isResponseFailure(error) && error.response !== undefined && mine(error.response))
      return exchange.send(this.#recorded(error.response, 'fwd=uri-miss; collapsed'))
    const failure = errorResponseFor(error)
    if (failure === undefined && error === undefined) bypass(exchange, this.#route, 'collapsed')
    else if (failure === undefined) exchange.pass()
    else this.#fail(failure)
  }

  #fail(failure: ServeError): void {
    const { request, response } = this.#exchange
    if (!this.#route.handlesError(failure, request, response)) this.#exchange.fail(failure)
  }

  /** The handler of this very request has run, or still runs: whatever it sent is the answer, and only where it sent nothing is another due. */
  async #finishLead(recorder: Recorder, { lookup, error }: LookupAttempt): Promise<void> {
    const exchange = this.#exchange
    await lookup?.refresh
    await this.#clearUncacheable(lookup)
    const revalidated = recorder.revalidated
    if (revalidated !== undefined) exchange.send(this.#recorded(revalidated, revalidatedMember(lookup)))
    else if (recorder.passed) {
      if (isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT') && !recorder.ended) exchange.res.destroy()
    } else if (this.#disconnect.aborted) recorder.release()
    else if (lookup !== undefined && lookup.status !== 'loaded') exchange.send(this.#served(lookup, recorder))
    else if (lookup !== undefined && recorder.outdated && lookup.value !== PRIVATE_RESPONSE)
      exchange.send(this.#recorded(lookup.value, revalidatedMember(lookup, 200)))
    else if (recorder.withheld !== undefined) exchange.send(answerFromWithheld(recorder.withheld))
    else this.#finishUnanswered(recorder, error)
  }

  /**
   * What was loaded without a lease, because the key was uncacheable, can be kept now: whoever comes next leads again. Unless somebody leads or
   * has led meanwhile: this process may be the last to know.
   */
  async #clearUncacheable(lookup: LookupAttempt['lookup']): Promise<void> {
    const { storableKey } = this.#leader
    const { cache, callOptions } = this.#route
    const unleased = lookup?.outcome?.kind === 'abandoned' && lookup.outcome.why === 'unleased'
    // Where callers load for want of patience, somebody else may hold the lease.
    if (storableKey === undefined || !unleased || callOptions.onWaitTimeout === 'load') return
    const found = await cache.inspect(storableKey).catch(() => undefined)
    if (found?.state === 'missing' && found.lease === null) await cache.delete(storableKey).catch(() => undefined)
  }

  #finishUnanswered(recorder: Recorder, error: unknown): void {
    const timedOut = isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT')
    if (timedOut || recorder.status !== undefined)
      this.#exchange.fail(errorResponseFor(error) ?? unavailable('CATTLEGRID_LOAD_FAILED', 1000))
    // The cache was closed, or the lease lost: no matter of the handler's, which goes on.
    else recorder.release()
  }

  #served(lookup: Lookup<RecordedResponse>, spared?: MaskedFailure): Answer {
    return this.#recorded(lookup.value, servedMember(lookup, spared), lookup.age, lookup.waited)
  }

  #recorded(response: RecordedResponse, member: Member, resident: number = 0, waited: number = 0): Answer {
    return presentResponse(this.#exchange, this.#route, response, this.#preconditions, {
      resident,
      waited,
      member: () => member,
    })
  }
}

/**
 * An answer that is kept only to be revalidated is nobody's: while its load goes on, its callers wait for that and look again.
 *
 * @throws HandOver where they are to look again; ResponseFailure where there is nothing to wait for.
 */
async function whenUsable(lookup: Lookup<Stored>): Promise<Lookup<Stored>> {
  const { value, status, role, age, refresh } = lookup
  if (isVaryRecord(value) || isUsable(value, age)) return lookup
  // Its own request has validated it.
  if (status === 'loaded' && role === 'leader') return lookup
  if (status === 'stale' && refresh === undefined) throw new ResponseFailure(503, undefined)
  await refresh
  throw new NoSharedResult('the answer at hand may not be used')
}
