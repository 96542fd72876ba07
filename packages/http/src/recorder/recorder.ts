import { queueOwnMicrotask } from '../microtask.ts'
import type { Chunk } from '../fields/body-arguments.ts'
import { BodyCopy, type CopyLimits } from './body-copy.ts'
import { type CaptureBudget, processBudget } from './capture-budget.ts'
import { type Conditions, fieldsOfContent, notModified } from '../response/conditional.ts'
import type { ClientReads, PersonalRead } from '../request/client-reads.ts'
import { missingEtag, recordResponse, withOwnFields } from '../response/record-response.ts'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { OuterBodies } from './outer-bodies.ts'
import type { LeavingBody, NotModified, Recording } from './recording.ts'
import {
  type AbortCause,
  abortedResult,
  type JudgedResponse,
  personalResult,
  type RecordingResult,
  recordingResult,
  type ResultRules,
} from './recording-result.ts'
import type { ResponseHead } from '../response/response-head.ts'
import { type RecorderState, stateAfter, withholds, stateWithoutStale } from './recorder-state.ts'
import type { Judgement } from '../response/storable.ts'

export interface RecorderSetup extends ResultRules, CopyLimits {
  judge(head: ResponseHead): Judgement
  extraFields(head: ResponseHead, judgement: Judgement): Readonly<Record<string, string>>
  timeOfDay(): number
  /** Counts the bytes of all copies. Default: the budget of the process. */
  readonly captures?: CaptureBudget | undefined
  /** The conditions of the handler's own client; undefined: it has none. */
  readonly conditions?: Conditions | undefined
  /** What is known of the layers outside of this place. Default: nothing. */
  readonly outerBodies?: OuterBodies | undefined
  /** What the handler reads about its client. Default: it reads nothing. */
  readonly reads?: ClientReads | undefined
  /** Called for a response that would be stored, and is not because its handler has read this. */
  readonly onPersonalRead?: ((read: PersonalRead) => void) | undefined
  /** Called once, before any outer layer may run, or at a withheld head. */
  readonly onOutside?: (() => void) | undefined
  /** A stale response may replace a failure, which is withheld from the client. */
  readonly holdsStale: boolean
  /** The stored response that the handler revalidates: a 304 confirms it. */
  readonly responseToRevalidate?: RecordedResponse | undefined
}

/**
 * Records a handler's response, and gives the result as soon as that is certain: at the head, where only its
 * own client may have it.
 */
export class Recorder implements Recording {
  /** Never rejects. */
  readonly done: Promise<RecordingResult>
  readonly #setup: RecorderSetup
  readonly #body: BodyCopy
  #state: RecorderState
  #unshareable: (Judgement & { readonly kind: 'unshareable' }) | undefined
  #judged: { readonly head: ResponseHead; readonly judgement: Judgement } | undefined
  /**
   * No part of `#state`: a load may end before there is a head, and a response may go on once its result
   * is certain.
   */
  #settled = false
  #left: LeavingBody | undefined
  #isOutsideNoted = false
  #resolve: (result: RecordingResult) => void = () => undefined

  constructor(setup: RecorderSetup) {
    this.#setup = setup
    this.#body = new BodyCopy(setup, setup.captures ?? processBudget)
    this.#state = { kind: 'waiting', holdsStale: setup.holdsStale }
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  get isConditional(): boolean {
    return this.#setup.conditions !== undefined
  }

  get copying(): boolean {
    return !this.#settled && this.#body.exceeded === undefined
  }

  /**
   * True if the handler's response has a head and is not withheld: its client gets it, or has another
   * one already.
   */
  get sent(): boolean {
    return this.#state.kind === 'sent'
  }

  /** The status of the handler's response; undefined as long as there is no head. */
  get status(): number | undefined {
    return this.#state.kind === 'waiting' ? undefined : this.#state.head.status
  }

  get ended(): boolean {
    return this.#body.ended
  }

  /** The withheld response, once it is complete. */
  get withheld(): { readonly head: ResponseHead; readonly body: Buffer } | undefined {
    if (this.#state.kind !== 'withheld' || !this.#body.ended || this.#body.exceeded !== undefined) return undefined
    // It is sent with a `Content-Length`, and so without trailers.
    const { trailer: _, ...fields } = this.#state.head.fields
    return { head: { ...this.#state.head, fields }, body: this.#body.bytes }
  }

  /**
   * The stored response that the handler's 304 confirmed, with all fields of the 304: the response for the
   * handler's own client.
   */
  get revalidated(): RecordedResponse | undefined {
    if (this.#state.kind !== 'revalidated' || !this.#body.ended) return undefined
    const { head, body } = this.#state
    return withOwnFields(recordResponse(head, body, this.#setup, this.#setup.timeOfDay()), head)
  }

  /**
   * The handler's 304 is about another response than the stored one: its client gets the response to a
   * request without conditions.
   */
  get mismatched(): boolean {
    return this.#state.kind === 'mismatched'
  }

  withholds(status: number): boolean {
    return withholds(this.#state, this.#setup.responseToRevalidate, status)
  }

  answersNotModified(head: ResponseHead, body: Chunk): NotModified | undefined {
    const { conditions, makesEtag = true } = this.#setup
    // The validators of a handler count until a body is seen to be replaced: a framework would answer
    // them itself.
    if (conditions === undefined || this.#setup.outerBodies?.kept === false) return undefined
    const { etag = head.outer?.['etag'] } = head.fields
    const lacksEtag = makesEtag && etag === undefined
    const made = lacksEtag && this.#keepsBodies && this.#judge(head).kind === 'store' ? missingEtag(head, body) : {}
    const fields = { ...head.fields, ...(etag === undefined ? made : { etag }) }
    return notModified(conditions, head.status, fields) ? { removed: fieldsOfContent(fields), fields: made } : undefined
  }

  extraFields(head: ResponseHead, foreign?: 'hijacked'): Readonly<Record<string, string>> {
    const judgement = foreign === undefined ? this.#judge(head) : ({ kind: 'unshareable', why: foreign } as const)
    return this.#setup.extraFields(head, judgement)
  }

  head(head: ResponseHead): void {
    this.#noteOutside()
    this.#setup.reads?.resume()
    if (this.#state.kind !== 'waiting') return
    this.#state = stateAfter(this.#state, this.#setup.responseToRevalidate, head, (given) => this.#judge(given))
    this.#advance()
  }

  chunk(chunk: Chunk): void {
    if (!this.copying || this.#state.kind === 'revalidated') return
    this.#body.add(chunk)
    if (this.#body.exceeded !== undefined) this.#advance()
  }

  restartBody(): void {
    this.#body.restart()
  }

  handedOver(): void {
    this.#noteOutside()
    this.#setup.reads?.pause()
  }

  streamRead(): void {
    this.#setup.reads?.resume()
  }

  leaves(left: LeavingBody): void {
    this.#left = left
  }

  outside<T>(call: () => T): T {
    this.#noteOutside()
    const { reads } = this.#setup
    return reads === undefined ? call() : reads.outside(call)
  }

  /**
   * The result is certain only in the next microtask: a handler that destroys its response right after its
   * end has not completed it.
   */
  end(): void {
    this.#body.end()
    // Loggers outside run before the microtask, and their reads do not count.
    if (this.#state.kind !== 'waiting') this.#setup.reads?.stop()
    queueOwnMicrotask(() => this.#advance())
  }

  abort(cause: AbortCause): void {
    // A whole response stays whole when its client leaves.
    if (cause === 'disconnect' && this.#body.ended) this.#advance()
    this.#finish(abortedResult('judgement' in this.#state ? this.#state : undefined, cause))
  }

  markUnshareable(why: 'hijacked' | 'personal' | 'timeout'): void {
    this.#unshareable ??= { kind: 'unshareable', why }
    this.#finish(this.#unshareable)
  }

  /**
   * The client needs no withheld response: it has its response, or gets the handler's, because no stale
   * response will come.
   */
  stopWithholding(): void {
    this.#state = stateWithoutStale(this.#state)
    if (this.#settled) this.#body.drop()
  }

  /** As far as is known before the body has left. */
  get #keepsBodies(): boolean {
    return this.#setup.outerBodies?.kept ?? this.#left?.mayDiffer !== true
  }

  #isRewritten({ head, kind }: JudgedResponse, body: Buffer): boolean {
    if (kind === 'revalidated') return this.#setup.responseToRevalidate?.rewritten === true
    const left = this.#left
    const kept = left?.mayDiffer !== true || left.isCoded(head.fields) ? true : left.holds(body)
    if (left?.mayDiffer === true) this.#setup.outerBodies?.note(kept, head.bodyLength === undefined)
    return !(kept ?? this.#keepsBodies)
  }

  #noteOutside(): void {
    const { onOutside, reads } = this.#setup
    if (this.#isOutsideNoted || onOutside === undefined) return
    this.#isOutsideNoted = true
    if (reads === undefined) onOutside()
    else reads.outside(onOutside)
  }

  /** Judges each head once, because that calls the route's functions. */
  #judge(head: ResponseHead): Judgement {
    if (this.#unshareable !== undefined) return this.#unshareable
    if (this.#judged?.head !== head) this.#judged = { head, judgement: this.#setup.judge(head) }
    return this.#judged.judgement
  }

  #advance(): void {
    const state = this.#state
    if (this.#settled || state.kind === 'waiting') return
    if (state.kind === 'mismatched') return this.#finish({ kind: 'mismatched' })
    const { ended } = this.#body
    const body = state.kind === 'revalidated' ? { bytes: state.body, ended, exceeded: undefined } : this.#body
    const rules = body.ended ? { ...this.#setup, rewritten: this.#isRewritten(state, body.bytes) } : this.#setup
    const result = recordingResult(state, body, rules, this.#setup.timeOfDay())
    if (result !== undefined) this.#finish(result)
  }

  #finish(result: RecordingResult): void {
    if (this.#settled) return
    this.#settled = true
    const { reads, onPersonalRead } = this.#setup
    reads?.stop()
    this.#left?.drop()
    const personal = reads?.found
    if (personal !== undefined && result.kind === 'store') onPersonalRead?.(personal)
    if (this.#state.kind !== 'withheld') this.#body.drop()
    this.#resolve(personal === undefined ? result : personalResult(result))
  }
}
