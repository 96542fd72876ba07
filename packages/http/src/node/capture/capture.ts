import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { type Chunk, chunkOf, sameBytes } from '../../fields/body-arguments.ts'
import { fieldsIn, parseHead, setInsteadOf } from '../../fields/head-arguments.ts'
import { showAsEnded, showAsOpen } from '../../fields/response-state.ts'
import { type HeaderFields, toFields } from '../../fields/header-fields.ts'
import { type Answer, setAnswerFields } from '../../response/answer.ts'
import type { ResponseHead } from '../../response/response-head.ts'
import { Departure } from './departure.ts'
import { DetachedResponse } from './detached-response.ts'
import { ErrorFields } from './error-fields.ts'
import { HandedOverResponse } from './handed-over.ts'
import type { NotModified, Recording } from '../../recorder/recording.ts'
import { ResponseCapture, type WrittenHead } from './response-capture.ts'
import { replaceAppending, replaceMethods } from './response-methods.ts'
import { unwatched } from './state-reads.ts'

/** A response whose handler is being recorded. */
export interface Capture {
  /** The fields that were set when the handler began. */
  readonly before: HeaderFields
  /** Runs the handler. */
  run(handler: () => void): void
  /** Sends this answer instead; whatever the handler still does with the response has no effect. */
  send(answer: Answer): void
  /**
   * For a framework that writes the response when the outer layers have run. Call it when the handler has
   * returned, before they run: the response is recorded with its present status and fields, and with
   * `payload`, which is text, bytes or a stream. Returns what to pass on: a copy of a stream. `undefined`:
   * the handler has thrown, or has made no payload; what the framework then writes is recorded.
   */
  handOver(payload: unknown): unknown
  /**
   * Gives the response to the framework's error handling, with the fields that it had before the handler, and
   * the status 200. Only before the handler's first byte is out.
   */
  reopen(): void
}

/**
 * Reports what a handler writes to Node's response. The head is recorded as inner layers left it. What outer
 * layers do to it, such as compression, happens after that and is not stored.
 *
 * @example
 * import { captureResponse, type Recording } from '@cattlegrid/http'
 *
 * const capture = (recording: Recording) => captureResponse(req, res, recording)
 */
export function captureResponse(req: IncomingMessage, res: ServerResponse, recording: Recording): Capture {
  return new HandlerCapture(req, res, recording)
}

class HandlerCapture extends ResponseCapture implements Capture {
  readonly #req: IncomingMessage
  readonly before: HeaderFields
  readonly #errorFields = new ErrorFields()
  /** No outer layer has wrapped `writeHead`: no field can be added to the head. */
  readonly #final: boolean
  /**
   * The head as the handler left it when its body began, and the status that `writeHead` will get for it: 304
   * where the client has the response already.
   */
  #implicitHead: { readonly head: ResponseHead; readonly status: number } | undefined
  #handedOver: HandedOverResponse | undefined
  #destroyedByHandler = false
  readonly #departure: Departure
  /** Restores the handler's head if a 304 is refused. */
  #undoNotModified: (() => void) | undefined

  constructor(req: IncomingMessage, res: ServerResponse, recording: Recording) {
    const final = !Object.hasOwn(res, 'writeHead')
    const before = toFields(res.getHeaders())
    super(res, recording, before)
    this.#req = req
    this.before = before
    this.#final = final
    const original = replaceMethods(res, {
      destroy: (...args) => {
        // Node itself destroys a response that waits for its turn on a connection which is gone.
        const isQueued = res.socket === null && unwatched(() => req.socket.destroyed)
        this.#destroyedByHandler ||= this.mayBeHandler && !isQueued
        if (this.#destroyedByHandler && this.ended && this.detached === undefined) recording.abort('failure')
        return original('destroy', args)
      },
    })
    replaceAppending(res, (call) => this.writers.append(call))
    this.#departure = new Departure(req, res, {
      settled: recording.done,
      mayLearn: () => this.mayBeHandler && !this.ended && this.#handedOver?.body === undefined && this.mode === 'send',
      // Node destroys a connection for many reasons of its client, such as bytes that are no HTTP: only the
      // handler's own call is its failure.
      onDestroy: () => (this.#destroyedByHandler ||= this.isHandler),
      onLearned: () => recording.abort('disconnect'),
    })
  }

  send(answer: Answer): void {
    this.stopGuardingDestroy()
    this.#restore()
    setAnswerFields(this.res, answer)
    this.res.statusCode = answer.status
    this.ignoreHandler(answer.status)
    this.original('end', answer.body === undefined ? [] : [answer.body])
  }

  handOver(payload: unknown): unknown {
    if (this.mode !== 'send' || this.headSeen || this.replacing) return payload
    if (payload === undefined) {
      // A framework writes nothing, or an empty end, where the client has left.
      if (this.isConnectionGone) this.recording.abort('disconnect')
      return undefined
    }
    const headOf = (bodyLength?: number): ResponseHead => this.#presentHead([this.res.statusCode], bodyLength)
    this.#handedOver = new HandedOverResponse(payload, headOf, this.recording)
    this.left.watchPassed()
    this.recording.handedOver()
    if (this.isConnectionGone) this.#recordUnsent(this.#handedOver)
    return this.#handedOver.payload
  }

  reopen(): void {
    this.stopGuardingDestroy()
    this.#restore()
    this.mode = 'send'
    this.ended = false
    this.replacing = true
    this.#implicitHead = undefined
    this.#handedOver = undefined
  }

  /** Whatever the handler writes is recorded. */
  protected override headOf(args: readonly unknown[]): WrittenHead {
    if (this.replacing) return { kind: 'ignored' }
    const handedOver = this.#handedOver
    if (handedOver !== undefined) return this.#headAfter(handedOver, args)
    const implicit = this.#implicitHead
    return { kind: 'recorded', head: implicit?.status === Number(args[0]) ? implicit.head : this.#presentHead(args) }
  }

  /** An outer layer that sends another status sends a response of its own. */
  #headAfter({ head }: HandedOverResponse, args: readonly unknown[]): WrittenHead {
    const status = this.bodiless ? head.status : Number(args[0])
    if (status !== head.status) return { kind: 'foreign', head: this.#presentHead(args) }
    return { kind: 'recorded', head: { ...head, outer: parseHead(this.res, args).fields, final: this.#final } }
  }

  #presentHead(args: readonly unknown[], bodyLength?: number): ResponseHead {
    const { status, fields } = parseHead(this.res, args)
    const passed = fieldsIn(args)
    return {
      status,
      ...this.writers.byWriter(fields, passed),
      errorFields: this.#errorFields.namesFor(status, Object.keys(passed)),
      bodyLength,
      final: this.#final,
    }
  }

  /** `settleImplicitHead` has decided it. */
  protected override answersNotModified(): undefined {
    return undefined
  }

  protected override settleImplicitHead(whole?: Chunk, passed?: Chunk): void {
    const { res, recording } = this
    if (this.mode !== 'send' || this.headSeen || this.#implicitHead !== undefined) return
    const handedOver = this.#handedOver
    if (handedOver !== undefined && handedOver.head.status !== res.statusCode) return
    const head =
      handedOver?.head ??
      this.#presentHead(this.innerHead.collect(), whole === undefined ? undefined : Buffer.byteLength(whole))
    const body = handedOver === undefined ? whole : handedOver.body
    if (handedOver !== undefined && sameBytes(body, passed)) this.left.passesRecorded()
    const notModified = body !== undefined && recording.answersNotModified(head, body)
    if (notModified) this.#becomeNotModified(notModified)
    this.#implicitHead = { head, status: res.statusCode }
    // A client that has left gets no chunk. Over HTTP/1, Node then writes the head itself, inside `end`:
    // layers outside may still set fields.
    const comesWithEnd = whole !== undefined && this.#req.httpVersionMajor === 1
    if ((this.isConnectionGone && !comesWithEnd) || recording.withholds(head.status)) res.writeHead(res.statusCode)
  }

  #becomeNotModified(notModified: NotModified): void {
    const { res } = this
    const { statusCode, statusMessage } = res
    const takeBack = this.snapshot([...notModified.removed, ...Object.keys(notModified.fields)])
    const undo = (): void => {
      takeBack()
      Object.assign(res, { statusCode, statusMessage })
    }
    this.#undoNotModified = undo
    setInsteadOf(res, [], 304, notModified)
    res.statusCode = 304
    res.statusMessage = ''
    this.bodiless = true
  }

  protected override chunkIn(args: readonly unknown[]): Chunk | undefined {
    return this.#handedOver === undefined ? chunkOf(args) : undefined
  }

  protected override recordHead(head: ResponseHead | undefined): void {
    const { recording } = this
    const handedOver = this.#handedOver
    if (head === undefined) {
      if (handedOver !== undefined) recording.markUnshareable('hijacked')
      return
    }
    if (this.failsForDisconnect(head.status)) recording.abort('disconnect')
    recording.head(head)
    if (handedOver?.body !== undefined) recording.chunk(handedOver.body)
  }

  protected override recordEnd(): void {
    if (this.mode === 'discard') showAsEnded(this.res)
    if (this.#handedOver?.whole === false) this.recording.markUnshareable('hijacked')
    else this.recording.end()
  }

  protected override onHeadThrown(): void {
    super.onHeadThrown()
    const undo = this.#undoNotModified
    this.#undoNotModified = undefined
    undo?.()
    this.#implicitHead = undefined
  }

  protected override onClose(): void {
    this.#departure.stop()
    if ((this.ended && this.headSeen) || this.mode === 'replaced') return
    const cause = this.#destroyedByHandler ? 'failure' : 'disconnect'
    // After a close, Node writes no head for an `end` that an outer layer delays.
    if (this.headSeen || this.ended || cause === 'failure') return this.recording.abort(cause)
    if (this.#departure.begin()) return
    this.#detach()
    if (this.#handedOver !== undefined) this.#recordUnsent(this.#handedOver)
  }

  protected override get isConnectionGone(): boolean {
    return this.detached !== undefined || unwatched(() => this.res.destroyed)
  }

  /**
   * The handler may still finish and its response be stored, but a piped stream that closes early aborts
   * the recording.
   */
  #detach(): void {
    const stopped = (source: Readable): void => {
      if (!this.ended && !source.readableEnded) this.recording.abort('disconnect')
    }
    this.detached = new DetachedResponse(this.res, this.recording, this.#departure)
    this.res.on('unpipe', stopped)
    this.res.on('pipe', (source) => source.once('close', () => stopped(source)))
  }

  /** The framework writes nothing to a client that has left, or an empty end. */
  #recordUnsent(handedOver: HandedOverResponse): void {
    this.recordHead(handedOver.head)
    this.headSeen = true
    this.ended = true
    handedOver.readOn(
      () => this.recordEnd(),
      () => this.recording.abort('disconnect'),
    )
  }

  protected override onFieldSet(name: unknown): void {
    this.#errorFields.note(this.res.statusCode, name)
  }

  #restore(): void {
    const { res } = this
    showAsOpen(res)
    for (const name of res.getHeaderNames()) if (!(name in this.before)) res.removeHeader(name)
    for (const [name, value] of Object.entries(this.before)) res.setHeader(name, value)
    this.writers.restart()
    res.statusCode = 200
    res.statusMessage = ''
  }
}
