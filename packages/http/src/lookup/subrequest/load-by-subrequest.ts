import { isCattlegridError, type Load } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import type { ClientConnection } from './connection.ts'
import type { Exchange } from '../../exchange.ts'
import { type LoadedResponse, rejectionOf, type ResponseLoad, resultOfSubrequest } from '../loaded-response.ts'
import { cdnLoopField } from '../../request/loop-detection.ts'
import { normalHost } from '../../fields/normal-host.ts'
import { subrequestFields } from './subrequest-fields.ts'
import type { RequestContext } from '../request-context.ts'
import { isStoredBefore } from '../../response/cache-status.ts'
import type { RecordedResponse } from '../../response/recorded-response.ts'
import { validatorsOf } from '../../response/revalidate.ts'
import type { Route } from '../../route/route.ts'
import { responseToRevalidateOf } from '../stale-response.ts'
import { sendSubrequest, type SubrequestResult } from './subrequest.ts'

/**
 * Brings a load its response by a subrequest: a refresh behind a stale response, or in the place of a handler that cannot answer for the key. The
 * subrequest has the validators of the stored response where the route revalidates; a second one has none, if the 304 to the first does not match.
 *
 * @throws as `resultOfSubrequest`.
 */
export async function loadBySubrequest<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  context: RequestContext,
  connection: ClientConnection,
  responseLoad: ResponseLoad,
): Promise<LoadedResponse> {
  const { load } = responseLoad
  const responseToRevalidate = responseToRevalidateOf(load, route)
  const { returned, headers } = await send(exchange, route, context, connection, responseLoad, responseToRevalidate)
  if (returned.kind === 'mismatched') return await replaceMismatched(exchange, route, context, connection, responseLoad)
  return { result: resultOfSubrequest(returned, load), headers }
}

/**
 * Replaces a stored response that the handler's 304 did not match, by a subrequest without validators. Deletes the stored response if this brings none.
 *
 * @throws as `resultOfSubrequest`.
 */
export async function replaceMismatched<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  context: RequestContext,
  connection: ClientConnection,
  responseLoad: ResponseLoad,
): Promise<LoadedResponse> {
  const { load } = responseLoad
  try {
    const { returned, headers } = await send(exchange, route, context, connection, responseLoad, undefined)
    return { result: resultOfSubrequest(returned, load), headers }
  } catch (error) {
    await route.cache.delete(load.key).catch(() => undefined)
    throw error
  }
}

/** Sends one subrequest, and reports a rejected response. */
async function send<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  context: RequestContext,
  connection: ClientConnection,
  { load, record, loadId, forwarded, collapseFailed }: ResponseLoad,
  responseToRevalidate: RecordedResponse | undefined,
): Promise<{ readonly returned: SubrequestResult; readonly headers: IncomingHttpHeaders }> {
  const { layer, scheme, host, req, routingFields } = exchange
  const headers = { ...routingFields, ...subrequestFields(req.headers, route, record) }
  const { result: returned, status } = await sendSubrequest({
    layer,
    key: context.key,
    scheme,
    host: normalHost(scheme, host),
    headers: {
      ...headers,
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
    target: context.keyedUrl(context.target),
    signal: load.signal,
    parent: req,
    connection,
    scope: route.scope,
    dispatch: (subReq, subRes) => exchange.dispatch(subReq, subRes),
  })
  const why = rejectionOf(returned)
  // For HEAD only a rejection by key is reported: every later refresh of the key would fail, too.
  if (why === 'key' || (why !== undefined && load.background && !wasEnded(load, why)))
    route.refreshMode.onRejection({ target: context.target, status, why })
  return { returned, headers }
}

/** True if the load was ended before the subrequest had its response. One that reaches no layer until `loadTimeout` would never have had one. */
function wasEnded({ signal }: Load<never>, why: string): boolean {
  return signal.aborted && !(why === 'unreached' && isCattlegridError(signal.reason, 'CATTLEGRID_LOAD_TIMEOUT'))
}
