import { type Load, LONGEST_WINDOW } from '@cattlegrid/core'
import type { IncomingHttpHeaders } from 'node:http'
import { ofProcess } from '../capture/capture-budget.ts'
import { appendMember, leaderMember, type MissReason } from '../response/cache-status.ts'
import type { Conditions } from '../response/conditional.ts'
import { NoSharedResult, ResponseFailure } from '../response/errors.ts'
import type { Exchange } from '../exchange.ts'
import { linesOf } from '../fields/header-fields.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { BODILESS, type Recorded, Recorder } from '../capture/recorder.ts'
import type { ResponseHead } from '../response/response-head.ts'
import { givenDirectives } from '../response/response-directives.ts'
import { retained } from '../response/revalidate.ts'
import type { Route } from '../route/route.ts'
import { judge, type Judgement, type Lifetime, type StoragePolicy } from '../response/storable.ts'
import type { Returned } from './subrequest.ts'
import { joinTags, tagsIn } from '../response/tags.ts'
import { choiceOf } from '../response/vary.ts'

/** What an error says about its route is soon out of date. */
const SHORT_OF = new Set(['status', 'handler', 'tags'])

/** It declares another length than it has: its client is told already when it begins. */
const INCOMPLETE: Judgement = { kind: 'own', why: 'incomplete' }

/** Of answers that are recorded at this moment there are too many. */
const CROWDED_OUT: Judgement = { kind: 'own', why: 'too-large', passing: true }

/** In the place of an answer that only its own client may have, and has: never served. */
export const PRIVATE_RESPONSE: RecordedResponse = {
  status: 500,
  fields: {},
  removed: [],
  body: Buffer.alloc(0),
  initialAge: 0,
}

/** What a recording is begun with. Like the heads and policies that each answer has, it is written out where it is made: V8 is slow at spreads. */
export interface RecordingSetup extends MissReason {
  readonly holdsStale: boolean
  /** Whether what it makes can be stored. */
  readonly leased: boolean
  /** What the client of the handler wants to be spared. */
  readonly conditions?: Conditions | undefined
  /** An answer of this URL was stored before: everybody may have it. */
  readonly proven: boolean
  /** The request has credentials that its key does not hold. */
  readonly authorized: boolean
  /** Tells what every answer of this URL is tagged with; undefined: nothing. */
  readonly urlTag: () => string | undefined
  /** The stored answer whose validators the handler was given. */
  readonly revalidates?: RecordedResponse | undefined
}

/** What takes down the answer of this exchange's handler. */
export function recorderFor<Req, Res>(
  exchange: Exchange<Req, Res>,
  route: Route<Req, Res>,
  lead: RecordingSetup,
): Recorder {
  const { storage, runtime, strip, clientFreshness, cacheStatus: name } = route
  const { proven, authorized, urlTag } = lead
  const began = runtime.timeOfDay()
  return new Recorder({
    strip,
    revalidates: lead.revalidates,
    holdsStale: lead.holdsStale,
    conditions: lead.conditions,
    maxBodyBytes: storage.maxBodyBytes,
    maxCaptureBytes: route.maxCaptureBytes,
    timeOfDay: () => runtime.timeOfDay(),
    // A handler that revalidates knows its own validators, and must not be asked by ours.
    makesEtag: !route.revalidate,
    began,
    judge: (head) => judgeFor(exchange, route, { proven, authorized, urlTag, began }, head),
    defaults: clientFreshness,
    announces: (head, judgement) => {
      const certain = head.bodyLength !== undefined && head.final === true && lead.leased
      const known = isCutShort(head) ? INCOMPLETE : judgement
      const status = (field: string): string =>
        appendMember(linesOf(head.fields, 'cache-status'), field, leaderMember(known, lead, certain))
      const lacks = judgement.kind === 'store' && !('cache-control' in head.fields)
      return { ...(name === undefined ? {} : { 'cache-status': status(name) }), ...(lacks ? clientFreshness : {}) }
    },
  })
}

/** Whether a body that is at hand is not as long as its head says. */
function isCutShort({ bodyLength, status, fields }: ResponseHead): boolean {
  const [declared] = linesOf(fields, 'content-length')
  return bodyLength !== undefined && declared !== undefined && !BODILESS.has(status) && Number(declared) !== bodyLength
}

/** The rules of storing, with what the route and the handler say. */
export function judgeFor<Req, Res>(
  { request, response, res }: Exchange<Req, Res>,
  route: Route<Req, Res>,
  {
    proven,
    authorized,
    urlTag,
    began,
  }: Pick<RecordingSetup, 'proven' | 'authorized' | 'urlTag'> & { readonly began: number },
  head: ResponseHead,
): Judgement {
  const said = givenDirectives(res)
  if (said.noStore === true) return { kind: 'own', why: 'handler' }
  const { storage } = route
  const policy: StoragePolicy = {
    ttl: said.ttl ?? route.ttl(request, response),
    staleWhileRevalidate: said.staleWhileRevalidate ?? storage.staleWhileRevalidate,
    staleIfError: said.staleIfError ?? storage.staleIfError,
    negativeTtl: storage.negativeTtl,
    maxBodyBytes: storage.maxBodyBytes,
    revalidates: storage.revalidates,
    targets: storage.targets,
    stripSetCookie: storage.stripSetCookie,
    varyOn: storage.varyOn,
    proven,
    authorized,
    began,
  }
  const judgement = judge(head, policy, route.runtime.timeOfDay())
  if (judgement.kind !== 'store') return judgement
  const announced = head.bodyLength ?? Number(linesOf(head.fields, 'content-length')[0] ?? 0)
  if (!ofProcess.hasRoom(announced, route.maxCaptureBytes)) return CROWDED_OUT
  const tags = joinTags(route.tags(request, response), tagsIn(head.fields, route.tagHeader), said.tags ?? [])
  if (tags === undefined) return { kind: 'own', why: 'tags' }
  const ours = urlTag()
  return { kind: 'store', lifetime: { ...judgement.lifetime, tags: ours === undefined ? tags : [...tags, ours] } }
}

/** An answer that is kept, with what its load is told. */
export type Kept = Recorded & { readonly kind: 'store' }

/**
 * What a load makes of the answer of the client's own handler, which was shown these fields: the answer to store, or one to share as it is; or
 * the error that says why there is neither. `own`: a failure is its client's alone.
 *
 * @throws ResponseFailure when the handler failed; HandOver when its client left in the middle.
 */
export function resultOfHandler(
  recorded: Exclude<Recorded, { kind: 'outdated' }>,
  load: Load<never>,
  shown: IncomingHttpHeaders,
  own: boolean,
): Kept | RecordedResponse {
  switch (recorded.kind) {
    case 'store':
      return recorded
    case 'share':
      load.uncacheable({ for: '1s', share: true })
      return chosen(recorded.response, recorded.vary, shown)
    case 'own':
      load.uncacheable({ share: false, for: uncacheableFor(recorded, own) })
      return PRIVATE_RESPONSE
    case 'fail':
      throw new ResponseFailure(recorded.status, recorded.response && chosen(recorded.response, recorded.vary, shown))
    case 'lost':
      if (recorded.by === 'client') throw new NoSharedResult('its client left')
      if (!own) throw new ResponseFailure('cut-off', undefined)
      load.uncacheable({ share: false, for: uncacheableFor(recorded, own) })
      return PRIVATE_RESPONSE
  }
}

/** How long everybody runs alone at the key after such an answer, ms. `own`: a failure is its client's alone. */
export function uncacheableFor(recorded: Recorded, own: boolean): number {
  if (recorded.kind === 'own') return recorded.passing === true || SHORT_OF.has(recorded.why) ? 1000 : 10_000
  return recorded.kind === 'lost' && recorded.by === 'handler' && own ? 1000 : 0
}

/** An answer that varies is shared only with who would have been given the same. */
function chosen(response: RecordedResponse, vary: readonly string[], shown: IncomingHttpHeaders): RecordedResponse {
  return vary.length === 0 ? response : { ...response, chosenBy: choiceOf(vary, shown) }
}

/**
 * What a load makes of a subrequest's answer. One that cannot be stored leaves no trace: nobody asked for it, and what a request without
 * cookies and credentials is told, a login page above all, says nothing about the others.
 *
 * @throws ResponseFailure when the handler failed, but for `HEAD`, whose own handler may know better; else HandOver.
 */
export function resultOfSubrequest(recorded: Returned, load: Load<never>): Kept {
  if (recorded.kind === 'store') return recorded
  if (recorded.kind === 'fail' && load.background) throw new ResponseFailure(recorded.status, undefined)
  if (recorded.kind === 'lost' && load.background) throw new ResponseFailure('cut-off', undefined)
  throw new NoSharedResult('its answer cannot be stored')
}

/** Returns the answer to store, with its lifetime told to the load. */
export function keepAnswer(load: Load<never>, { response, lifetime }: Kept, revalidate: boolean): RecordedResponse {
  const longer = revalidate ? retained(response, lifetime) : undefined
  if (longer === undefined) {
    keep(load, lifetime)
    return response
  }
  const { staleWhileRevalidate = 0 } = lifetime
  keep(load, { ...lifetime, staleWhileRevalidate, staleIfError: longer.staleIfError })
  return { ...response, usableFor: longer.usableFor }
}

/** A record of variants is kept this long at least, so that it outlives them: 1 day. */
const RECORD_TTL = 86_400_000

/** Longer than any of its variants, ms. */
export function lifeOfRecord({ ttl, staleWhileRevalidate = 0, staleIfError = 0 }: Lifetime): number {
  return Math.max(RECORD_TTL, 2 * (ttl + Math.max(staleWhileRevalidate, staleIfError)))
}

function keep(load: Load<never>, { ttl, staleWhileRevalidate, staleIfError, tags }: Lifetime): void {
  load.keep({
    ttl,
    staleWhileRevalidate: longest(staleWhileRevalidate),
    staleIfError: longest(staleIfError),
    tags,
  })
}

function longest(window: number | undefined): number | undefined {
  return window === undefined ? undefined : Math.min(window, LONGEST_WINDOW)
}
