import type { CallOptions, CallerSignal, Lookup } from '@cattlegrid/core'
import type { IncomingMessage } from 'node:http'
import { isNoSharedResult, NoSharedResult, ResponseFailure } from '../response/errors.ts'
import { UNSHAREABLE_RESPONSE } from './load-result.ts'
import { isUsable, isVaryRecord, type RecordedResponse, type Stored } from '../response/recorded-response.ts'
import type { RequestContext } from './request-context.ts'
import type { ResponseLoader } from './response-loader.ts'
import type { Route } from '../route/route.ts'
import { variantKey, type VaryRecord } from '../response/vary.ts'

/** A request that still has no response after so many lookups runs its own handler. */
const MAX_LOOKUPS = 16

/** The result of a request's lookups: a response, or the error with which the last lookup ended. */
export interface RequestLookup {
  readonly lookup?: Lookup<RecordedResponse>
  readonly error?: unknown
}

/**
 * Looks up the response for one request; where the request leads, `loader` brings it. Looks up again when a leader had no result for its followers:
 * one of them leads next. Never rejects.
 */
export async function lookUp<Req, Res>(
  req: IncomingMessage,
  route: Route<Req, Res>,
  context: RequestContext,
  loader: ResponseLoader<Req, Res>,
  signal: CallerSignal,
): Promise<RequestLookup> {
  const options = { signal, maxAge: context.directives.maxAge }
  for (let lookups = 1; ; lookups += 1) {
    try {
      return { lookup: await lookUpOnce(req, route, context.key, loader, options) }
    } catch (error) {
      const endsHere = loader.hasResponse || loader.subrequestFailed || context.unshareable !== undefined
      if (endsHere || lookups === MAX_LOOKUPS || !isNoSharedResult(error)) return { error }
    }
  }
}

/** Looks up the key of the URL; where that holds a record of variants, the key of this request's variant. */
async function lookUpOnce<Req, Res>(
  req: IncomingMessage,
  route: Route<Req, Res>,
  key: string,
  loader: ResponseLoader<Req, Res>,
  options: CallOptions<Stored>,
): Promise<Lookup<RecordedResponse>> {
  const ofUrl = await lookUpKey(route, key, loader, undefined, options)
  const { value } = ofUrl
  if (!isVaryRecord(value)) return ofUrl as Lookup<RecordedResponse>
  // The handler's own response goes to this client; the record serves other requests only.
  if (loader.hasResponse) return { ...ofUrl, value: UNSHAREABLE_RESPONSE }
  loader.recordFound = true
  loader.waitedForRecord = ofUrl.role === 'follower'
  const ofVariant = await lookUpKey(route, variantKey(key, value, req.headers), loader, value, options)
  // The leader that wrote the record loaded this variant, too.
  const collapsed = ofUrl.status === 'loaded' && ofVariant.status === 'fresh'
  return {
    ...ofVariant,
    value: ofVariant.value as RecordedResponse,
    ...(collapsed ? ({ status: 'loaded', role: 'follower' } as const) : {}),
    waited: ofUrl.waited + ofVariant.waited,
  }
}

/** `record`: the record of variants that led to the key; undefined: the key is the URL's own. */
async function lookUpKey<Req, Res>(
  { view, refreshMode, inlineRefreshes }: Route<Req, Res>,
  key: string,
  loader: ResponseLoader<Req, Res>,
  record: VaryRecord | undefined,
  options: CallOptions<Stored>,
): Promise<Lookup<Stored>> {
  const lookup = await whenUsable(await view.lookup<Stored, never>(key, (load) => loader.load(load, record), options))
  const { status, refresh: refreshing } = lookup
  if (!refreshMode.inline || status !== 'stale' || refreshing === undefined || inlineRefreshes.has(key)) return lookup
  inlineRefreshes.add(key)
  // The first request that gets the stale response refreshes it with its own handler, whose recorder the responder must find.
  await Promise.race([loader.handlerStarted(), refreshing])
  if (loader.recorder === undefined) inlineRefreshes.delete(key)
  else void refreshing.then(() => inlineRefreshes.delete(key))
  return lookup
}

/**
 * Returns the lookup if its response may be served. If the response is kept only for revalidation, waits for the load that replaces it, and throws.
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
