import { ofProcess } from '../capture/capture-budget.ts'
import { appendMember, leaderMember, type MissReason } from '../response/cache-status.ts'
import type { Conditions } from '../response/conditional.ts'
import type { Exchange } from '../exchange.ts'
import { linesOf } from '../fields/header-fields.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { BODILESS, Recorder } from '../capture/recorder.ts'
import type { ResponseHead } from '../response/response-head.ts'
import { givenDirectives } from '../response/response-directives.ts'
import type { Route } from '../route/route.ts'
import { judge, type Judgement, type StoragePolicy } from '../response/storable.ts'
import { joinTags, tagsIn } from '../response/tags.ts'

/** It declares another length than it has: its client is told already when it begins. */
const INCOMPLETE: Judgement = { kind: 'own', why: 'incomplete' }

/** Of answers that are recorded at this moment there are too many. */
const CROWDED_OUT: Judgement = { kind: 'own', why: 'too-large', passing: true }

/** What a recording is begun with. Like the heads and policies that each answer has, it is written out where it is made: V8 is slow at spreads. */
export interface HandlerRun extends MissReason {
  readonly holdsStale: boolean
  /** Whether what it makes can be stored. */
  readonly leased: boolean
  /** What the client of the handler wants to be spared. */
  readonly conditions?: Conditions | undefined
  /** An answer of this URL was stored before: everybody may have it. */
  readonly storedBefore: boolean
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
  lead: HandlerRun,
): Recorder {
  const { storage, runtime, strip, clientFreshness, cacheStatus: name } = route
  const { storedBefore, authorized, urlTag } = lead
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
    judge: (head) => judgeResponse(exchange, route, { storedBefore, authorized, urlTag, began }, head),
    defaults: clientFreshness,
    announces: (head, judgement) => {
      const certain = head.bodyLength !== undefined && head.final === true && lead.leased
      const known = isIncomplete(head) ? INCOMPLETE : judgement
      const status = (field: string): string =>
        appendMember(linesOf(head.fields, 'cache-status'), field, leaderMember(known, lead, certain))
      const lacks = judgement.kind === 'store' && !('cache-control' in head.fields)
      return { ...(name === undefined ? {} : { 'cache-status': status(name) }), ...(lacks ? clientFreshness : {}) }
    },
  })
}

/** Whether a body that is at hand is not as long as its head says. */
function isIncomplete({ bodyLength, status, fields }: ResponseHead): boolean {
  const [declared] = linesOf(fields, 'content-length')
  return bodyLength !== undefined && declared !== undefined && !BODILESS.has(status) && Number(declared) !== bodyLength
}

/** The rules of storing, with what the route and the handler say. */
export function judgeResponse<Req, Res>(
  { request, response, res }: Exchange<Req, Res>,
  route: Route<Req, Res>,
  {
    storedBefore,
    authorized,
    urlTag,
    began,
  }: Pick<HandlerRun, 'storedBefore' | 'authorized' | 'urlTag'> & { readonly began: number },
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
    storedBefore,
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
