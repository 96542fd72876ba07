import type { Load } from '@cattlegrid/core'
import { appendMember, type Forwarded, leaderMember } from './cache-status.ts'
import { HandOver, ResponseFailure } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { linesOf } from './header-fields.ts'
import type { RecordedResponse } from './recorded-response.ts'
import { type Recorded, Recorder } from './recorder.ts'
import type { Route } from './route.ts'
import type { Returned } from './subrequest.ts'
import { judge, type Lifetime } from './storable.ts'

/** The engine refuses longer windows: 49 days. */
const LONGEST_WINDOW = 2 ** 32 - 1

/** In the place of an answer that only its own client may have, and has: never served. */
export const UNSHARED: RecordedResponse = { status: 500, fields: {}, removed: [], body: Buffer.alloc(0), initialAge: 0 }

/** What takes down the answer of this exchange's handler. */
export function recorderFor<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  holdsStale: boolean,
  forwarded: Forwarded,
): Recorder {
  const { storage, runtime, cacheStatus: name } = route
  const proven = forwarded === 'stale'
  return new Recorder({
    holdsStale,
    maxBodyBytes: storage.maxBodyBytes,
    timeOfDay: () => runtime.timeOfDay(),
    judge: (head) =>
      judge(head, { ...storage, proven, ttl: route.ttl(exchange.request, exchange.response) }, runtime.timeOfDay()),
    cacheStatus: (head, judgement) =>
      name === undefined
        ? undefined
        : appendMember(
            linesOf(head.fields, 'cache-status'),
            name,
            leaderMember(judgement, forwarded, head.bodyLength !== undefined),
          ),
  })
}

/**
 * What a load makes of the answer of the client's own handler: the value to store or to share; or the error that says why there is none.
 *
 * @throws ResponseFailure when the handler failed; HandOver when its client left in the middle.
 */
export function settleLead(recorded: Recorded, load: Load): RecordedResponse {
  switch (recorded.kind) {
    case 'store':
      keep(load, recorded.lifetime)
      return recorded.response
    case 'share':
      load.uncacheable({ for: '1s', share: true })
      return recorded.response
    case 'own':
      // What an error says about its route is soon out of date.
      load.uncacheable({ share: false, for: recorded.why === 'status' ? '1s' : '10s' })
      return UNSHARED
    case 'fail':
      throw new ResponseFailure(recorded.status, recorded.response)
    case 'lost':
      throw recorded.by === 'client' ? new HandOver('its client left') : new ResponseFailure('cut-off', undefined)
  }
}

/**
 * What a load makes of a subrequest's answer. One that cannot be stored leaves no trace: nobody asked for it, and what a request without
 * cookies and credentials is told, a login page above all, says nothing about the others.
 *
 * @throws ResponseFailure when the handler failed, but for `HEAD`, whose own handler may know better; else HandOver.
 */
export function settleSubrequest(recorded: Returned, load: Load): RecordedResponse {
  if (recorded.kind === 'store') return settleLead(recorded, load)
  if (recorded.kind === 'fail' && load.background) throw new ResponseFailure(recorded.status, undefined)
  if (recorded.kind === 'lost' && load.background) throw new ResponseFailure('cut-off', undefined)
  throw new HandOver('its answer cannot be stored')
}

function keep(load: Load, { ttl, staleWhileRevalidate, staleIfError }: Lifetime): void {
  load.keep({
    ttl,
    ...(staleWhileRevalidate === undefined
      ? {}
      : { staleWhileRevalidate: Math.min(staleWhileRevalidate, LONGEST_WINDOW) }),
    ...(staleIfError === undefined ? {} : { staleIfError: Math.min(staleIfError, LONGEST_WINDOW) }),
  })
}
