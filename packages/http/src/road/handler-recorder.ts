import { processBudget } from '../recorder/capture-budget.ts'
import { leaderVerdict } from '../response/cache-status.ts'
import type { Conditions } from '../response/conditional.ts'
import type { Exchange } from './exchange.ts'
import { linesOf } from '../fields/header-fields.ts'
import { mixedField, selectingNames } from '../response/recorded-fields.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import { Recorder } from '../recorder/recorder.ts'
import { hasDeclaredLength, type ResponseHead } from '../response/response-head.ts'
import type { HandlerTimes } from './handler-times.ts'
import { reportFields } from '../response/report-fields.ts'
import type { ClientReads } from '../request/client-reads.ts'
import type { Ambiguity } from '../request/single-fields.ts'
import { noteVerdict } from './request-report.ts'
import type { Route } from '../route/route.ts'
import type { SubrequestFacts } from './subrequest.ts'
import { validatorsOf } from '../response/revalidate.ts'
import { judge, type Judgement, type StoragePolicy } from '../response/storable.ts'
import { joinTags, tagsIn } from '../response/tags.ts'

/** A body whose length differs from its `Content-Length`. */
const INCOMPLETE: Judgement = { kind: 'unshareable', why: 'incomplete' }

/** The load of a response that could be stored has no lease, for whatever reason. */
const UNLEASED: Judgement = { kind: 'unshareable', why: 'unleased' }

/** The captures of this process have no room for the body now. */
const NO_CAPTURE_ROOM: Judgement = { kind: 'unshareable', why: 'too-large', temporary: true }

/** The facts beside the head, about a request and its URL, that decide storing. */
export interface StorageFacts extends Pick<SubrequestFacts, 'storedBefore'> {
  /** The request has credentials that its key does not hold. */
  readonly unkeyedCredentials: boolean
  /** The response may depend on a URL that is not that of the key. Default: false. */
  readonly unkeyedUrl?: boolean
  /** Returns the tag of every response of this URL; undefined: there is none. */
  readonly urlTag: () => string | undefined
}

/** The facts that the recorder of one handler run needs. */
export interface RecorderFacts extends StorageFacts, SubrequestFacts {
  readonly holdsStale: boolean
  /** An audit decides later whether the response is stored. Default: false. */
  readonly audited?: boolean | undefined
  /** The key of the load, and the times of its handler; undefined: no client gets this response. */
  readonly key?: string
  readonly times?: HandlerTimes
  /** The conditions of the handler's own client; undefined: it has none. */
  readonly conditions?: Conditions | undefined
}

/** Makes the recorder of this exchange's handler. */
export function recorderFor(exchange: Exchange, route: Route, facts: RecorderFacts): Recorder {
  const { storage, runtime, strip, clientFreshness } = route
  const began = runtime.timeOfDay()
  const reads = exchange.watchReads(route.personalReads)
  return new Recorder({
    reads,
    outerBodies: route.outerBodies,
    onPersonalRead: (read) => route.warnings.givePersonalRead(read, exchange.target),
    strip,
    ignoreVary: route.ignoreVary,
    responseToRevalidate: facts.responseToRevalidate,
    onOutside: facts.responseToRevalidate && validatorsHider(exchange, facts.responseToRevalidate),
    holdsStale: facts.holdsStale,
    conditions: facts.conditions,
    maxBodyBytes: storage.maxBodyBytes,
    maxCaptureBytes: route.maxCaptureBytes,
    timeOfDay: () => runtime.timeOfDay(),
    // A handler that revalidates knows only validators of its own.
    makesEtag: !route.revalidate,
    began,
    judge: (head) => judgeResponse(exchange, route, facts, { began, reads }, head),
    defaults: clientFreshness,
    extraFields: (head, judgement) => {
      const certain = head.bodyLength !== undefined && head.final === true && facts.audited !== true
      const expected = expectedJudgement(head, judgement, facts.leased)
      const verdict = leaderVerdict(expected, facts, certain)
      noteVerdict(exchange, verdict)
      const lacksFreshness = judgement.kind === 'store' && !('cache-control' in head.fields)
      return {
        ...reportFields(route, (name) => linesOf(head.fields, name), {
          verdict,
          key: facts.key,
          ...facts.times?.untilNow(),
        }),
        ...(lacksFreshness ? clientFreshness : {}),
      }
    },
  })
}

/**
 * Returns a function that hides the cache's conditions from outer layers: they would send a 304 to a client
 * that has sent none.
 */
function validatorsHider(exchange: Exchange, stored: RecordedResponse): () => void {
  return () => {
    const names = Object.keys(validatorsOf(stored))
    // The handler may have frozen them.
    if (exchange.hasReplaceableFields) exchange.replaceFields(new Map(names.map((name) => [name, undefined])))
  }
}

function expectedJudgement(head: ResponseHead, judgement: Judgement, leased: boolean): Judgement {
  if (head.bodyLength !== undefined && !hasDeclaredLength(head, head.bodyLength)) return INCOMPLETE
  return leased || judgement.kind !== 'store' ? judgement : UNLEASED
}

/** When a handler began to run, and what it has read about its client so far. */
interface HandlerStart {
  readonly began: number
  readonly reads: ClientReads
}

/**
 * Applies the rules of storing, with the policy of the route, the directives that the handler gave, and what
 * it has read about its client.
 */
export function judgeResponse(
  exchange: Exchange,
  route: Route,
  facts: StorageFacts,
  { began, reads }: HandlerStart,
  head: ResponseHead,
): Judgement {
  // A read by the route's functions is no part of the response.
  const judged = reads.outside(() => judgeByRoute(exchange, route, facts, began, head))
  const unkeyedUrl = facts.unkeyedUrl === true ? 'unkeyed-url' : undefined
  const selecting = selectingNames(head, route.ignoreVary)
  const why = unkeyedUrl ?? exchange.ambiguityIn(selecting)
  const shared = forOneClient(judged, why)
  const judgement = exchange.judgePassedError(head.status, shared)
  reads.selectedBy(selecting)
  const personal = reads.found
  const mixed = mixedField(head, route.strip)
  if ((personal === undefined && mixed === undefined) || judgement.kind === 'unshareable') return judgement
  if (judgement.kind === 'fail') return { kind: 'fail', share: false }
  if (judgement.kind === 'store' && personal !== undefined) route.warnings.givePersonalRead(personal, exchange.target)
  if (judgement.kind === 'store' && mixed !== undefined) route.warnings.giveOuterValue(mixed, exchange.target)
  return { kind: 'unshareable', why: personal === undefined ? 'outer-value' : 'personal' }
}

/**
 * A handler that could see two values of a selecting field, or another URL than that of the key, has
 * responded to its own client only.
 */
function forOneClient(judgement: Judgement, why: Ambiguity | 'unkeyed-url' | undefined): Judgement {
  if (why === undefined || judgement.kind === 'unshareable') return judgement
  return judgement.kind === 'fail' ? { kind: 'fail', share: false } : { kind: 'unshareable', why }
}

function judgeByRoute(
  exchange: Exchange,
  route: Route,
  { storedBefore, unkeyedCredentials, urlTag }: StorageFacts,
  began: number,
  head: ResponseHead,
): Judgement {
  const { request, response, given } = exchange
  if (given.noStore === true) return { kind: 'unshareable', why: 'handler' }
  const { storage } = route
  const policy: StoragePolicy = {
    ttl: given.ttl ?? route.ttl(request, response),
    givenTtl: given.ttl,
    staleWhileRevalidate: given.staleWhileRevalidate ?? storage.staleWhileRevalidate,
    staleIfError: given.staleIfError ?? storage.staleIfError,
    negativeTtl: storage.negativeTtl,
    maxBodyBytes: storage.maxBodyBytes,
    revalidates: storage.revalidates,
    targets: storage.targets,
    stripSetCookie: storage.stripSetCookie,
    varyOn: storage.varyOn,
    storedBefore,
    unkeyedCredentials,
    began,
  }
  const judgement = judge(head, policy, route.runtime.timeOfDay())
  route.warnings.noteJudgement(judgement, exchange.target, exchange.pattern)
  if (judgement.kind !== 'store') return judgement
  const declaredLength = head.bodyLength ?? Number(linesOf(head.fields, 'content-length')[0] ?? 0)
  if (!processBudget.hasRoom(declaredLength, route.maxCaptureBytes)) return NO_CAPTURE_ROOM
  const tags = joinTags(route.tags(request, response), tagsIn(head.fields, route.tagHeader), given.tags ?? [])
  if (tags === undefined) return { kind: 'unshareable', why: 'tags' }
  const ownTags = [urlTag(), route.audit?.tagOf(exchange.place)].filter((tag) => tag !== undefined)
  return { kind: 'store', lifetime: { ...judgement.lifetime, tags: [...tags, ...ownTags] } }
}
