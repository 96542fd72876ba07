import { isCattlegridError, type Load } from '@cattlegrid/core'
import type { ClientConnection } from './connection.ts'
import type { Exchange } from '../exchange.ts'
import { type LoadResult, rejectionOf, type ResponseLoad, resultOfSubrequest } from './load-result.ts'
import { cdnLoopField } from '../request/loop-detection.ts'
import { normalHost } from '../fields/normal-host.ts'
import { nominatedFields } from './nominated-fields.ts'
import type { RequestContext } from './request-context.ts'
import { validatorsOf } from '../response/revalidate.ts'
import type { Route } from '../route/route.ts'
import { responseToRevalidate } from './stale-response.ts'
import { sendSubrequest } from './subrequest.ts'

/**
 * Brings a load its response by a subrequest: a refresh behind a stale response, or in the place of a handler that cannot answer for the key.
 *
 * @throws as `resultOfSubrequest`.
 */
export async function loadBySubrequest<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  context: RequestContext,
  connection: ClientConnection,
  run: ResponseLoad,
  conditional: boolean = true,
): Promise<LoadResult> {
  const { layer, scheme, host, req, routingFields } = exchange
  const { load, record, loadId } = run
  const headers = { ...routingFields, ...nominatedFields(req.headers, route, record) }
  const revalidates = conditional ? responseToRevalidate(load, route) : undefined
  const { result: returned, status } = await sendSubrequest({
    layer,
    key: context.key,
    scheme,
    host: normalHost(scheme, host),
    headers: { ...headers, ...(revalidates && validatorsOf(revalidates)), ...cdnLoopField({}, loadId) },
    revalidates,
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
    route.refreshMode.reject({ target: context.target, status, why })
  if (returned.kind === 'mismatched') return await refetch(exchange, route, context, connection, run)
  return { result: resultOfSubrequest(returned, load), headers }
}

/** Sends a subrequest without validators, because the handler's 304 did not match the stored response. Deletes the stored response if this brings none. */
export async function refetch<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  context: RequestContext,
  connection: ClientConnection,
  run: ResponseLoad,
): Promise<LoadResult> {
  try {
    return await loadBySubrequest(exchange, route, context, connection, run, false)
  } catch (error) {
    await route.cache.delete(run.load.key).catch(() => undefined)
    throw error
  }
}

/** True if the load was ended before the subrequest had its response. One that reaches no layer until `loadTimeout` would never have had one. */
function wasEnded({ signal }: Load<never>, why: string): boolean {
  return signal.aborted && !(why === 'unreached' && isCattlegridError(signal.reason, 'CATTLEGRID_LOAD_TIMEOUT'))
}
