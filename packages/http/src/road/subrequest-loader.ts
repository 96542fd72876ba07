import { isCattlegridError, type Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import type { Exchange } from './exchange.ts'
import { type LoadResult, rejectionOf, type LoadTask, resultOfSubrequest } from './loaded-response.ts'
import { isStoredBefore } from './miss.ts'
import { copyUnreported } from '../request/watched-fields.ts'
import { cdnLoopField } from '../request/loop-detection.ts'
import { normalHost } from '../fields/normal-host.ts'
import { keyedHost } from '../request/request-key.ts'
import { subrequestFields } from './subrequest-fields.ts'
import type { RequestContext } from './admission.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { validatorsOf } from '../response/revalidate.ts'
import { responseToRevalidateOf } from './stale-response.ts'
import type { SendSubrequest, SubrequestResponse, SubrequestResult } from './subrequest.ts'

/** Sends an anonymous request. `vary`: the names of its selecting fields. */
export type SendAnonymously = (vary: readonly string[], signal: AbortSignal) => Promise<SubrequestResponse>

/** What a subrequest repeats of the request that caused it. */
type ReceivedRequest = Pick<Exchange, 'scheme' | 'host'> & { readonly headers: IncomingHttpHeaders }

interface Sending {
  readonly received: ReceivedRequest
  readonly anotherClient: boolean
  readonly signal: AbortSignal
}

/**
 * Brings the loads of one request their response by subrequests: a refresh behind a stale response, or in the
 * place of a handler that cannot answer for the key.
 */
export class SubrequestLoader {
  readonly #context: RequestContext
  readonly #sendSubrequest: SendSubrequest

  constructor(context: RequestContext) {
    this.#context = context
    this.#sendSubrequest = context.exchange.subrequests()
  }

  /**
   * The subrequest has the validators of the stored response where the route revalidates; a second one has
   * none, if the 304 to the first does not match.
   *
   * @throws as `resultOfSubrequest`.
   */
  async load(task: LoadTask): Promise<LoadResult> {
    const { load } = task
    const { returned, requestFields } = await this.#send(task, responseToRevalidateOf(load, this.#context.route))
    if (returned.kind === 'mismatched') return await this.replaceMismatched(task)
    return { result: resultOfSubrequest(returned, load), requestFields }
  }

  /**
   * As `load`, in the place of the request's own handler.
   *
   * @throws NoSharedResult also where such a subrequest for the key brought nothing recently: none is sent.
   */
  loadUnlessFailed(task: LoadTask): Promise<LoadResult> {
    return this.#context.route.notes.sendUnlessFailed(task.load.key, () => this.load(task))
  }

  /**
   * Replaces a stored response that the handler's 304 did not match, by a subrequest without validators.
   * Deletes the stored response if this brings none.
   *
   * @throws as `resultOfSubrequest`.
   */
  async replaceMismatched(task: LoadTask): Promise<LoadResult> {
    const { load } = task
    try {
      const { returned, requestFields } = await this.#send(task, undefined)
      return { result: resultOfSubrequest(returned, load), requestFields }
    } catch (error) {
      await this.#context.route.cache.delete(load.key).catch(() => undefined)
      throw error
    }
  }

  /**
   * Returns a function that sends the request of a refresh, without validators, as a client at another
   * address: for an audit, which stores nothing. Reads the client's request at once, as the handler may
   * change it.
   */
  asAnotherClient(task: LoadTask): SendAnonymously {
    const received = this.#received
    return (vary, signal) =>
      this.#dispatch({ ...task, record: { vary, id: '' } }, undefined, { received, anotherClient: true, signal })
        .response
  }

  /** Sends one subrequest, and reports a rejected response. */
  async #send(
    task: LoadTask,
    responseToRevalidate: RecordedResponse | undefined,
  ): Promise<{ readonly returned: SubrequestResult; readonly requestFields: IncomingHttpHeaders }> {
    const { load, unkeyedUrl } = task
    const { refreshMode } = this.#context.route
    const { response, requestFields } = this.#dispatch(task, responseToRevalidate, {
      received: this.#received,
      anotherClient: false,
      signal: load.signal,
    })
    const { result: returned, status } = await response
    const why = rejectionOf(returned)
    if (why !== 'unreached') refreshMode.onReached()
    // While a client waits, only a rejection by key is reported: every later refresh of the key would
    // fail, too.
    const isOfRoute = why === 'key' && !unkeyedUrl
    if (isOfRoute || (why !== undefined && load.background && !wasEnded(load, why)))
      refreshMode.onRejection({ target: this.#context.target, status, why })
    return { returned, requestFields }
  }

  get #received(): ReceivedRequest {
    const { scheme, host, headers } = this.#context.exchange
    return { scheme, host, headers: copyUnreported(headers) }
  }

  #dispatch(
    { load, record, loadId, forwarded, collapseFailed }: LoadTask,
    responseToRevalidate: RecordedResponse | undefined,
    { received: { scheme, host, headers }, anotherClient, signal }: Sending,
  ): { readonly response: Promise<SubrequestResponse>; readonly requestFields: IncomingHttpHeaders } {
    const { exchange, route, key, keyedUrl, target, unshareable } = this.#context
    const { place, routingFields } = exchange
    const requestFields = { ...routingFields, ...subrequestFields(headers, route, record) }
    const response = this.#sendSubrequest({
      place,
      key,
      scheme,
      host: normalHost(scheme, unshareable === 'host' ? keyedHost(host, route.keyRule) : host),
      headers: {
        ...requestFields,
        ...(responseToRevalidate && validatorsOf(responseToRevalidate)),
        ...cdnLoopField({}, loadId),
      },
      facts: {
        responseToRevalidate,
        leased: load.leased,
        storedBefore: isStoredBefore(forwarded),
        forwarded,
        collapseFailed,
      },
      target: keyedUrl(target),
      signal,
      anotherClient,
      scope: route.scope,
    })
    return { response, requestFields }
  }
}

/**
 * True if the load ended before the response came. False if it did not reach its place by `loadTimeout`: none
 * would have come.
 */
function wasEnded({ signal }: Load<never>, why: string): boolean {
  return signal.aborted && !(why === 'unreached' && isCattlegridError(signal.reason, 'CATTLEGRID_LOAD_TIMEOUT'))
}
