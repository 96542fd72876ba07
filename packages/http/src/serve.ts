import { isCattlegridError, type Load, type Lookup } from '@cattlegrid/core'
import { type Answer, answerFrom, answerFromWithheld } from './answer.ts'
import { appendMember, bypassMember, type Member, servedMember, type Spared } from './cache-status.ts'
import { type Conditions, conditionsOf } from './conditional.ts'
import { type Bypass, bypassOf, type Candidate, leadsNobody } from './eligible.ts'
import { HandOver, isHandOver, isResponseFailure } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { recorderFor, settleLead, settleSubrequest, UNSHARED } from './load-response.ts'
import { normaliseLeader } from './normalise.ts'
import { tryAgain, unanswered } from './outcome.ts'
import type { RecordedResponse } from './recorded-response.ts'
import type { Recorder } from './recorder.ts'
import { requestKey } from './request-key.ts'
import type { Route } from './route.ts'
import { type Mark, markOf, sendSubrequest } from './subrequest.ts'

/** Each election that a request loses costs another one its client: that many in a row are no accident, and it runs alone. */
const MOST_ELECTIONS = 16

/**
 * The road of one request: normalise → eligible → request-key → lookup → (leader) handler → capture → storable → serve. In the end the
 * exchange was told once to pass, to run, to send or to fail. Never throws.
 */
export function serve<Req, Res>(exchange: Exchange<Req, Res>, route: Route<Req, Res>): void {
  const mark = markOf(exchange.req)
  if (mark !== undefined) return enter(mark, exchange, route)
  const candidate = candidateOf(exchange)
  const bypass = bypassOf(candidate) ?? (route.skip(exchange.request) ? 'skip' : undefined)
  if (bypass !== undefined) return passBy(exchange, route, bypass)
  const key = requestKey(exchange)
  if (key === undefined) return passBy(exchange, route, 'key-too-long')
  // A cookie that a layer outside sets is this client's alone, but says nothing about the others.
  const alone = leadsNobody(candidate) || exchange.res.hasHeader('set-cookie')
  void new Visit(exchange, route, key, alone).run()
}

/** A request of our own has come back to the layer that sent it, or is still on its way there. */
function enter<Req, Res>(mark: Mark, exchange: Exchange<Req, Res>, route: Route<Req, Res>): void {
  if (mark.layer !== exchange.layer) return exchange.pass()
  const recorder = recorderFor(exchange, route, false, 'stale')
  mark.begin(recorder)
  exchange.run(recorder)
}

function passBy(
  exchange: Exchange,
  { cacheStatus }: { readonly cacheStatus: string | undefined },
  why: Bypass | 'body' | 'head',
): void {
  if (cacheStatus !== undefined) announce(exchange, cacheStatus, bypassMember(why))
  exchange.pass()
}

function announce({ res }: Exchange, name: string, member: Member): void {
  const previous = res.getHeader('cache-status')
  res.setHeader('cache-status', appendMember(previous === undefined ? undefined : String(previous), name, member))
}

function candidateOf({ req, target }: Exchange): Candidate {
  const { originalMethod } = req as { readonly originalMethod?: unknown }
  const wire = typeof originalMethod === 'string' ? originalMethod : undefined
  return { method: req.method ?? '', originalMethod: wire, headers: req.headers, target }
}

/** One request on its way through the cache. */
class Visit<Req, Res> {
  readonly #exchange: Exchange<Req, Res>
  readonly #route: Route<Req, Res>
  readonly #key: string
  /** What its handler answers is nobody else's. */
  readonly #alone: boolean
  readonly #conditions: Conditions
  readonly #gone = new AbortController()
  /** Takes down this request's own handler, once it leads. */
  #recorder: Recorder | undefined
  /** It was to lead and had nothing for the others: its handler answers it alone. */
  #declined = false

  constructor(exchange: Exchange<Req, Res>, route: Route<Req, Res>, key: string, alone: boolean) {
    this.#exchange = exchange
    this.#route = route
    this.#key = key
    this.#alone = alone
    this.#conditions = conditionsOf(exchange.req.headers)
  }

  /** Never rejects: whatever goes wrong in here, the request gets an answer. */
  async run(): Promise<void> {
    const { res } = this.#exchange
    res.once('close', () => {
      if (!res.writableFinished) this.#gone.abort()
    })
    try {
      await this.#finish(await this.#lookup())
    } catch {
      if (this.#recorder === undefined && !res.headersSent) this.#exchange.pass()
      else res.destroy()
    }
  }

  /** Looks again when a leader had nothing for its followers: one of them leads then. */
  async #lookup(): Promise<Result> {
    const { cache, callOptions } = this.#route
    const options = { ...callOptions, signal: this.#gone.signal }
    for (let elections = 1; ; elections += 1) {
      try {
        return { lookup: await cache.lookup<RecordedResponse>(this.#key, (load) => this.#load(load), options) }
      } catch (error) {
        const final = this.#recorder !== undefined || this.#declined || this.#alone || elections === MOST_ELECTIONS
        if (final || !isHandOver(error)) return { error }
      }
    }
  }

  async #finish(result: Result): Promise<void> {
    if (this.#recorder !== undefined) return this.#finishLead(this.#recorder, result)
    // Its client has left, or a layer outside lost its patience and answered.
    if (this.#gone.signal.aborted || this.#exchange.res.headersSent) return undefined
    if (isHandOver(result.error)) return passBy(this.#exchange, this.#route, this.#alone ? 'body' : 'head')
    return this.#answer(result)
  }

  async #load(load: Load<RecordedResponse>): Promise<RecordedResponse> {
    const { req } = this.#exchange
    if (load.background) return settleSubrequest(await this.#subrequest(load), load)
    if (this.#recorder !== undefined || this.#declined) throw new HandOver('its handler has run')
    if (!this.#alone && req.method !== 'HEAD') return settleLead(await this.#runHandler(load), load)
    this.#declined = true
    if (this.#alone) throw new HandOver('its handler sees more than the key holds')
    const response = settleSubrequest(await this.#subrequest(load), load)
    this.#declined = false
    return response
  }

  #runHandler(load: Load<RecordedResponse>): Recorder['done'] {
    const exchange = this.#exchange
    const stale = load.stale !== undefined
    const recorder = recorderFor(exchange, this.#route, stale, stale ? 'stale' : 'uri-miss')
    load.signal.addEventListener('abort', () => recorder.abandon(), { once: true })
    normaliseLeader(exchange.req, exchange.host)
    // From here on the handler is to answer: whatever fails before, the request is still ours to answer.
    this.#recorder = recorder
    exchange.run(recorder)
    return recorder.done
  }

  #subrequest({ signal }: Load<RecordedResponse>): ReturnType<typeof sendSubrequest> {
    const { layer, scheme, host, target, req } = this.#exchange
    return sendSubrequest({
      layer,
      scheme,
      host,
      target,
      signal,
      origin: req,
      scope: this.#route.scope,
      dispatch: (subReq, subRes) => this.#exchange.dispatch(subReq, subRes),
    })
  }

  #answer({ lookup, error }: Result): void {
    const exchange = this.#exchange
    if (lookup !== undefined && lookup.value !== UNSHARED) return exchange.send(this.#served(lookup))
    if (isResponseFailure(error) && error.response !== undefined)
      return exchange.send(this.#recorded(error.response, 0, 'fwd=uri-miss; collapsed'))
    const failure = unanswered(error)
    if (failure === undefined) exchange.pass()
    else exchange.fail(failure)
  }

  /** The handler of this very request has run, or still runs: whatever it sent is the answer, and only where it sent nothing is another due. */
  async #finishLead(recorder: Recorder, { lookup, error }: Result): Promise<void> {
    const exchange = this.#exchange
    await lookup?.refresh
    if (recorder.passed) {
      if (isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT') && !recorder.ended) exchange.res.destroy()
    } else if (this.#gone.signal.aborted) recorder.release()
    else if (lookup !== undefined && lookup.status !== 'loaded') exchange.send(this.#served(lookup, recorder))
    else if (recorder.withheld !== undefined) exchange.send(answerFromWithheld(recorder.withheld))
    else this.#finishUnanswered(recorder, error)
  }

  #finishUnanswered(recorder: Recorder, error: unknown): void {
    const timedOut = isCattlegridError(error, 'CATTLEGRID_LOAD_TIMEOUT')
    if (timedOut || recorder.status !== undefined)
      this.#exchange.fail(unanswered(error) ?? tryAgain('CATTLEGRID_LOAD_FAILED', 1000))
    // The cache was closed, or the lease lost: no matter of the handler's, which goes on.
    else recorder.release()
  }

  #served(lookup: Lookup<RecordedResponse>, spared?: Spared): Answer {
    return this.#recorded(lookup.value, lookup.age, servedMember(lookup, spared))
  }

  #recorded(response: RecordedResponse, resident: number, member: Member): Answer {
    const { req, res } = this.#exchange
    const { cacheStatus: name } = this.#route
    const existing = response.fields['cache-status'] ?? res.getHeader('cache-status')?.toString()
    const cacheStatus = name === undefined ? undefined : appendMember(existing, name, member)
    return answerFrom(response, { method: req.method ?? 'GET', conditions: this.#conditions, resident, cacheStatus })
  }
}

interface Result {
  readonly lookup?: Lookup<RecordedResponse>
  readonly error?: unknown
}
