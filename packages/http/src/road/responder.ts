import type { Answer } from '../response/answer.ts'
import { collapsedVerdict, revalidatedVerdict, servedVerdict, type Verdict } from '../response/cache-status.ts'
import { clearUncacheable } from './clear-uncacheable.ts'
import type { ServeError } from '../response/errors.ts'
import type { ClientSignal } from './exchange.ts'
import { stepAfterHandler, stepWithoutHandler, type FinalStep, type UnhandledRequest } from './final-step.ts'
import { isKnownShareable } from './miss.ts'
import { answerOnlyIfCached } from './only-if-cached.ts'
import type { Recorder } from '../recorder/recorder.ts'
import { ResponseLoader } from './response-loader.ts'
import { bypass } from './bypass.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { noteError } from './request-report.ts'
import type { RequestContext } from './admission.ts'
import { RequestLookup, type RequestResult } from './request-lookup.ts'
import { presentResponse, type ClientPreconditions, preconditionsOf, type Provenance } from './present.ts'

/** Responds to one request that is no immediate hit: with what its lookup brings, or by its own handler. */
export class Responder {
  readonly #context: RequestContext
  readonly #preconditions: ClientPreconditions
  readonly #disconnect: ClientSignal
  readonly #loader: ResponseLoader
  readonly #lookup: RequestLookup

  constructor(context: RequestContext) {
    const { exchange, route } = context
    this.#context = context
    this.#preconditions = preconditionsOf(exchange, route)
    this.#disconnect = exchange.watchClient()
    this.#loader = new ResponseLoader(context)
    this.#lookup = new RequestLookup(context, this.#loader, this.#disconnect)
  }

  /** Never rejects. If anything fails here, the handler runs, or the connection closes. */
  async respond(): Promise<void> {
    const exchange = this.#context.exchange
    try {
      const { onlyIfCached } = this.#context.directives
      const step = onlyIfCached ? this.#onlyIfCachedStep() : this.#stepAfter(await this.#lookup.run())
      this.#perform(step instanceof Promise ? await step : step)
    } catch {
      if (this.#loader.recorder === undefined && !exchange.isAnswered) exchange.pass()
      else exchange.destroy()
    } finally {
      this.#disconnect.ignore()
      // The handler may go on: its response is not withheld any more.
      this.#loader.recorder?.stopWithholding()
    }
  }

  async #onlyIfCachedStep(): Promise<FinalStep> {
    return { kind: 'complete', answer: await answerOnlyIfCached(this.#context) }
  }

  /** No promise for a stale response: while a load runs, Node 20 and 22 track each promise of the process. */
  #stepAfter(result: RequestResult): FinalStep | Promise<FinalStep> {
    const { recorder } = this.#loader
    if (recorder !== undefined) return this.#stepAfterHandler(recorder, result)
    this.#loader.keepHandlerFromLoads()
    return stepWithoutHandler(this.#unhandledRequest(), result)
  }

  async #stepAfterHandler(recorder: Recorder, result: RequestResult): Promise<FinalStep> {
    // Its handler runs in this refresh, and decides whether the stale response is sent.
    if (result.lookup?.refresh !== undefined) await result.lookup.refresh
    const { storable, timedOutBeforeKnown } = this.#loader
    if (storable !== undefined) await clearUncacheable(this.#context.route, storable.key, result.lookup?.outcome)
    return stepAfterHandler({ recorder, timedOutBeforeKnown, disconnected: this.#disconnect.aborted }, result)
  }

  #unhandledRequest(): UnhandledRequest {
    return {
      headers: this.#context.exchange.headers,
      knownShareable: isKnownShareable(this.#context.route, this.#lookup.forwarded),
      timedOutBeforeKnown: this.#loader.timedOutBeforeKnown,
      disconnected: this.#disconnect.aborted,
      bypassReason: this.#loader.unshareable ?? (this.#loader.subrequestFailed ? 'head' : 'collapsed'),
    }
  }

  #perform(step: FinalStep): void {
    const exchange = this.#context.exchange
    if (step.kind === 'destroy') exchange.destroy()
    if (step.kind === 'destroy' || step.kind === 'nothing' || exchange.isAnswered) return
    if (step.kind === 'pass') exchange.pass()
    else if (step.kind === 'bypass') bypass(exchange, this.#context.route, step.why, this.#lookup.forwarded)
    else if (step.kind === 'error') this.#fail(step.error)
    else exchange.send(this.#answerOf(step))
  }

  #answerOf(step: FinalStep & { readonly kind: 'looked-up' | 'shared' | 'revalidated' | 'complete' }): Answer {
    const { forwarded, key } = this.#lookup
    switch (step.kind) {
      case 'looked-up': {
        const { lookup } = step
        const { value, age: residentTime, waited } = lookup
        const verdict = (): Verdict => servedVerdict(lookup, forwarded, this.#loader.recorder)
        return this.#present(value, { residentTime, key, waited, verdict })
      }
      case 'shared':
        return this.#present(step.response, {
          residentTime: 0,
          key,
          verdict: () => collapsedVerdict(forwarded),
        })
      case 'revalidated':
        return this.#present(step.response, {
          residentTime: 0,
          key,
          ...this.#loader.times.untilNow(),
          verdict: () => revalidatedVerdict(step.lookup, step.status),
        })
      case 'complete':
        return step.answer
    }
  }

  /** After a handler, `onError` is not asked: what it writes would be the handler's response. */
  #fail(error: ServeError): void {
    const { request, response } = this.#context.exchange
    noteError(this.#context.exchange, error.code)
    const hasAnswered =
      this.#loader.recorder === undefined && this.#context.route.handlesError(error, request, response)
    if (!hasAnswered) this.#context.exchange.fail(error)
  }

  #present(response: RecordedResponse, provenance: Provenance): Answer {
    return presentResponse(this.#context.exchange, this.#context.route, response, this.#preconditions, provenance)
  }
}
