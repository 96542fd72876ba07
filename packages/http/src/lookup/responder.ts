import type { Answer } from '../response/answer.ts'
import { collapsedVerdict, revalidatedVerdict, servedVerdict, type Verdict } from '../response/cache-status.ts'
import { clearUncacheable } from './clear-uncacheable.ts'
import { ClientDisconnect } from './client-disconnect.ts'
import type { ServeError } from '../response/errors.ts'
import type { Exchange } from '../exchange.ts'
import { isHeadSent } from '../fields/response-state.ts'
import { answerAfterHandler, answerWithoutHandler, type FinalAnswer, type UnhandledRequest } from './final-answer.ts'
import { hitInStore } from './hit.ts'
import { ResponseLoader } from './response-loader.ts'
import { bypass } from './bypass.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { noteError } from './request-report.ts'
import type { RequestContext } from './request-context.ts'
import { isKnownShareable } from './loaded-response.ts'
import { RequestLookup } from './request-lookup.ts'
import type { Route } from '../route/route.ts'
import { presentResponse, type ClientPreconditions, preconditionsOf, type Provenance } from './present.ts'

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
    const exchange = this.#exchange
    try {
      this.#perform(await this.#finalAnswer())
    } catch {
      if (this.#loader.recorder === undefined && !isHeadSent(exchange.res)) exchange.pass()
      else exchange.res.destroy()
    } finally {
      // The handler may go on: its response is not withheld any more.
      this.#loader.recorder?.stopWithholding()
    }
  }

  async #finalAnswer(): Promise<FinalAnswer> {
    const { key, directives } = this.#context
    if (directives.onlyIfCached) {
      // Where the cache cannot be read, nothing of it can be served.
      const hit = await hitInStore(this.#exchange, this.#route, key, directives.maxAge).catch(() => undefined)
      if (hit === undefined) noteError(this.#exchange, 'only-if-cached')
      return { kind: 'complete', answer: hit ?? ONLY_IF_CACHED_MISS }
    }
    const result = await this.#lookup.run()
    const { recorder } = this.#loader
    if (recorder === undefined) {
      this.#loader.forbidHandler()
      return answerWithoutHandler(this.#unhandledRequest(), result)
    }
    // Its handler runs in this refresh, and decides whether the stale response is sent.
    if (result.lookup?.refresh !== undefined) await result.lookup.refresh
    const { storable, timedOutBeforeKnown } = this.#loader
    if (storable !== undefined) await clearUncacheable(this.#route, storable.key, result.lookup?.outcome)
    return answerAfterHandler({ recorder, timedOutBeforeKnown, disconnected: this.#disconnect.aborted }, result)
  }

  #unhandledRequest(): UnhandledRequest {
    return {
      headers: this.#exchange.req.headers,
      knownShareable: isKnownShareable(this.#route, this.#lookup.forwarded),
      timedOutBeforeKnown: this.#loader.timedOutBeforeKnown,
      disconnected: this.#disconnect.aborted,
      bypassReason: this.#context.unshareable ?? (this.#loader.subrequestFailed ? 'head' : 'collapsed'),
    }
  }

  #perform(final: FinalAnswer): void {
    const exchange = this.#exchange
    if (final.kind === 'destroy') exchange.res.destroy()
    if (final.kind === 'destroy' || final.kind === 'nothing' || isHeadSent(exchange.res)) return
    if (final.kind === 'pass') exchange.pass()
    else if (final.kind === 'bypass') bypass(exchange, this.#route, final.why, this.#lookup.forwarded)
    else if (final.kind === 'error') this.#fail(final.error)
    else exchange.send(this.#answerOf(final))
  }

  #answerOf(final: FinalAnswer & { readonly kind: 'looked-up' | 'shared' | 'revalidated' | 'complete' }): Answer {
    const { forwarded, key } = this.#lookup
    switch (final.kind) {
      case 'looked-up': {
        const { lookup } = final
        const { value, age: residentTime, waited } = lookup
        const verdict = (): Verdict => servedVerdict(lookup, forwarded, this.#loader.recorder)
        return this.#present(value, { residentTime, key, waited, verdict })
      }
      case 'shared':
        return this.#present(final.response, {
          residentTime: 0,
          key,
          verdict: () => collapsedVerdict(forwarded),
        })
      case 'revalidated':
        return this.#present(final.response, {
          residentTime: 0,
          key,
          ...this.#loader.times.untilNow(),
          verdict: () => revalidatedVerdict(final.lookup, final.status),
        })
      case 'complete':
        return final.answer
    }
  }

  /** After a handler, `onError` is not asked: what it writes would be the handler's response. */
  #fail(error: ServeError): void {
    const { request, response } = this.#exchange
    noteError(this.#exchange, error.code)
    const hasAnswered = this.#loader.recorder === undefined && this.#route.handlesError(error, request, response)
    if (!hasAnswered) this.#exchange.fail(error)
  }

  #present(response: RecordedResponse, provenance: Provenance): Answer {
    return presentResponse(this.#exchange, this.#route, response, this.#preconditions, provenance)
  }
}
